// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tare::mpiio {

/// MPI for as long as it lives, and this process's place in it.
class World {
  public:
    World(int& argument_count, char**& arguments);
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    World(World&&) = delete;
    World& operator=(World&&) = delete;
    ~World() { MPI_Finalize(); }

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int ranks() const { return ranks_; }
    [[nodiscard]] bool is_first() const { return rank_ == 0; }

    static void wait_for_all() { MPI_Barrier(MPI_COMM_WORLD); }

    /// Everybody's value in the order of the ranks, on rank 0; nothing elsewhere.
    [[nodiscard]] std::vector<double> gathered(double own) const;
    [[nodiscard]] static std::uint64_t sum(std::uint64_t own);
    /// The largest; nothing if any rank has none.
    [[nodiscard]] static std::optional<std::uint64_t> largest(std::optional<std::uint64_t> own);
    /// Rank 0's text, everywhere.
    [[nodiscard]] static std::string from_first(std::string text);

  private:
    int rank_ = 0;
    int ranks_ = 1;
};

}  // namespace tare::mpiio
