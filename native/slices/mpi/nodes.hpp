// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdint>

namespace tare::slices {

/// Lets all ranks but rank 0 of MPI_COMM_WORLD sleep until that wakes them; MPI itself would spin.
///
/// The ranks of a node share a word of memory and sleep on it (futex(2)). The first rank of each node but
/// rank 0's looks for rank 0's message every 10 ms (0.4 % of a processor), and wakes its node.
class Nodes {
  public:
    /// Collective. `node_ranks`: so many ranks in the order of their numbers are taken for a node; 0: those
    /// that can share memory. Throws `std::runtime_error`.
    explicit Nodes(int node_ranks);
    Nodes(const Nodes&) = delete;
    Nodes& operator=(const Nodes&) = delete;
    Nodes(Nodes&&) = delete;
    Nodes& operator=(Nodes&&) = delete;
    /// Collective.
    ~Nodes();

    /// Of rank 0: wakes all others.
    void wake_all();
    /// Of all others: sleeps until rank 0 wakes them.
    void sleep();

  private:
    void share_word();
    void wake_node();
    void sleep_in_node();

    MPI_Comm node_ = MPI_COMM_NULL;
    MPI_Comm leaders_ = MPI_COMM_NULL;  ///< The first rank of each node; rank 0 is the first of them.
    MPI_Win window_ = MPI_WIN_NULL;
    std::uint32_t* word_ = nullptr;
    std::uint32_t seen_ = 0;
};

}  // namespace tare::slices
