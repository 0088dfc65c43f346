// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "npb/common/outcome.hpp"

namespace tare::npb {

/// Times the parts of a timed region: `Name` is an enumeration from 0 on, `count` how many there are.
template <typename Name, std::size_t count>
class Phases {
  public:
    explicit Phases(const std::array<std::string_view, count>& names) : names_{names} {}

    void clear() { wall_s_ = {}; }

    /// Runs `work` and adds its time to the phase.
    template <typename Work>
    decltype(auto) time(Name name, Work&& work) {
        const Running running{wall_s_.at(static_cast<std::size_t>(name))};
        return work();
    }

    /// Time that the caller measured himself.
    void add(Name name, double wall_s) { wall_s_.at(static_cast<std::size_t>(name)) += wall_s; }

    [[nodiscard]] std::vector<Phase> list() const {
        std::vector<Phase> found;
        for (std::size_t index = 0; index < count; ++index) {
            found.push_back({.name = std::string{names_.at(index)}, .wall_s = wall_s_.at(index)});
        }
        return found;
    }

  private:
    class Running {
      public:
        explicit Running(double& sum) : sum_{&sum}, start_{MPI_Wtime()} {}
        Running(const Running&) = delete;
        Running& operator=(const Running&) = delete;
        Running(Running&&) = delete;
        Running& operator=(Running&&) = delete;
        ~Running() { *sum_ += MPI_Wtime() - start_; }

      private:
        double* sum_;
        double start_;
    };

    std::array<std::string_view, count> names_;
    std::array<double, count> wall_s_{};
};

/// All ranks start `work` together; this rank's time for it.
template <typename Work>
[[nodiscard]] double timed(MPI_Comm communicator, Work&& work) {
    MPI_Barrier(communicator);
    const double start_s = MPI_Wtime();
    work();
    return MPI_Wtime() - start_s;
}

}  // namespace tare::npb
