// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "profile/late_senders.hpp"
#include "profile/library/mpi.hpp"

namespace tare::profile {

/// What the messages of a communicator are written down with.
struct Route {
    MPI_Comm communicator;
    /// Null: every rank is the same in MPI_COMM_WORLD.
    const int* world_ranks;
    std::uint64_t identity;

    [[nodiscard]] int world_rank(int rank) const {
        // NOLINTNEXTLINE(cppcoreguidelines-pro-bounds-pointer-arithmetic): MPI has accepted this rank
        return world_ranks == nullptr ? rank : world_ranks[rank];
    }
    /// The messages to one member with one tag; 0 when they cannot be told from others.
    [[nodiscard]] Stream stream(int tag) const {
        constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
        return identity == 0 ? 0 : (identity + (static_cast<std::uint64_t>(tag) + 1) * golden) | 1U;
    }
};

/// What counting must know of a communicator.
struct Communicator {
    /// Rank in this communicator, or in the other side's group, → rank in MPI_COMM_WORLD; the number of ranks
    /// there stands for a process outside of it.
    std::vector<int> world_ranks;
    /// Whether these are 0, 1, 2 and so on.
    bool is_like_world;
    /// This process, and how many there are on its side.
    int rank;
    int members;
    bool has_two_sides;
    /// The same in all members, another for every communicator; 0 when it is not known.
    std::uint64_t identity;

    /// How many ranks can be sent to.
    [[nodiscard]] int ranks() const { return static_cast<int>(world_ranks.size()); }
    [[nodiscard]] Route route(MPI_Comm handle) const {
        return {.communicator = handle,
                .world_ranks = is_like_world ? nullptr : world_ranks.data(),
                .identity = identity};
    }
};

/// All communicators that were used or made since MPI_Init.
class Communicators {
  public:
    explicit Communicators(const Mpi& mpi);

    /// By its handle; a communicator that came from elsewhere becomes known here.
    /// The references hold until the next call of any of these functions.
    [[nodiscard]] const std::shared_ptr<const Communicator>& find(MPI_Comm handle) {
        return handle == last_.communicator ? last_found_ : look_up(handle);
    }
    [[nodiscard]] const Route& route(MPI_Comm handle) {
        if (handle != last_.communicator) [[unlikely]] {
            (void)look_up(handle);
        }
        return last_;
    }
    /// To be called in each member when a call has made it: members make communicators of the same ranks in
    /// the same order, and that gives each its identity.
    void add_made(MPI_Comm handle);
    void forget(MPI_Comm handle);

  private:
    [[nodiscard]] Communicator describe(MPI_Comm handle) const;
    const std::shared_ptr<const Communicator>& look_up(MPI_Comm handle);

    Route last_{};
    std::shared_ptr<const Communicator> last_found_;
    const Mpi* mpi_;
    MPI_Group world_{};
    std::unordered_map<MPI_Comm, std::shared_ptr<const Communicator>> known_;
    std::unordered_map<std::uint64_t, std::uint64_t> made_of_ranks_;
};

}  // namespace tare::profile
