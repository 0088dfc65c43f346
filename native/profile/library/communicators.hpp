// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "profile/late_senders.hpp"
#include "profile/library/mpi.hpp"

namespace tare::profile {

/// What counting must know of a communicator.
struct Communicator {
    /// Rank in this communicator, or in the other side's group, → rank in MPI_COMM_WORLD; the number of ranks
    /// there stands for a process outside of it.
    std::vector<int> world_ranks;
    /// This process, and how many there are on its side.
    int rank;
    int members;
    bool has_two_sides;
    /// The same in all members, another for every communicator; 0 when it is not known.
    std::uint64_t identity;

    /// How many ranks can be sent to.
    [[nodiscard]] int ranks() const { return static_cast<int>(world_ranks.size()); }
    /// The messages to one member with one tag; 0 when they cannot be told from others.
    [[nodiscard]] Stream stream(int tag) const;
};

/// All communicators that were used or made since MPI_Init.
class Communicators {
  public:
    explicit Communicators(const Mpi& mpi);

    /// By its handle; a communicator that came from elsewhere becomes known here.
    /// The reference holds until the next call of any of these functions.
    [[nodiscard]] const std::shared_ptr<const Communicator>& find(MPI_Comm handle);
    /// To be called in each member when a call has made it: members make communicators of the same ranks in
    /// the same order, and that gives each its identity.
    void add_made(MPI_Comm handle);
    void forget(MPI_Comm handle);

  private:
    [[nodiscard]] Communicator describe(MPI_Comm handle) const;

    const Mpi* mpi_;
    MPI_Group world_{};
    std::unordered_map<MPI_Comm, std::shared_ptr<const Communicator>> known_;
    std::unordered_map<std::uint64_t, std::uint64_t> made_of_ranks_;
    MPI_Comm last_ = nullptr;
    std::shared_ptr<const Communicator> last_found_;
};

}  // namespace tare::profile
