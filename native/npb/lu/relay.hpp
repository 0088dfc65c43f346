// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "npb/lu/layout.hpp"
#include "npb/lu/part.hpp"
#include "npb/lu/sweep.hpp"

namespace tare::npb::lu {

/// Which way a sweep goes in x, y and z.
enum class Way { growing, falling };

/// Hands what a sweep passes on across the edges of blocks, plane by plane: as soon as a rank has done a
/// plane, the next one can begin with it.
class Relay {
  public:
    Relay(const Part& part, const Layout& layout, Way way);

    /// Waits for the next plane's values from the blocks before, and adds them to the points at the edges of
    /// a plane of groups.
    void receive(std::span<double> passed);
    /// Where the sweep puts the values for the blocks after.
    [[nodiscard]] sweep::Outflow outflow();
    /// Sends them.
    void send();
    /// Waits until all that was sent is gone. Ends a sweep.
    void finish();

  private:
    /// One axis.
    struct Edge {
        int source = MPI_PROC_NULL;
        int target = MPI_PROC_NULL;
        /// In a plane of groups, where each number of a message belongs.
        std::vector<std::size_t> places{};
        std::vector<double> received{};
        /// Two by turns, so that one may be on its way.
        std::array<std::vector<double>, 2> to_send{};
        std::array<MPI_Request, 2> sending{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    };

    MPI_Comm communicator_;
    std::array<Edge, 2> edges_;
    std::size_t turn_ = 0;
};

}  // namespace tare::npb::lu
