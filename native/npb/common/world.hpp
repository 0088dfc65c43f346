// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace tare::npb {

/// This process's place in a communicator.
struct World {
    MPI_Comm communicator = MPI_COMM_WORLD;
    int rank = 0;
    int ranks = 1;

    [[nodiscard]] static World of(MPI_Comm communicator) {
        World world{.communicator = communicator};
        MPI_Comm_rank(communicator, &world.rank);
        MPI_Comm_size(communicator, &world.ranks);
        return world;
    }
};

/// A communicator that is freed with its owner; `MPI_COMM_NULL` in ranks that have no part in it.
class Communicator {
  public:
    explicit Communicator(MPI_Comm communicator) : communicator_{communicator} {}
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    Communicator(Communicator&& other) noexcept : communicator_{other.communicator_} {
        other.communicator_ = MPI_COMM_NULL;
    }
    Communicator& operator=(Communicator&&) = delete;
    ~Communicator() {
        if (communicator_ != MPI_COMM_NULL) {
            MPI_Comm_free(&communicator_);
        }
    }

    [[nodiscard]] MPI_Comm get() const { return communicator_; }
    [[nodiscard]] bool has_part() const { return communicator_ != MPI_COMM_NULL; }

  private:
    MPI_Comm communicator_;
};

/// The first `count` ranks of `world` among themselves.
[[nodiscard]] inline Communicator first_ranks(const World& world, int count) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(world.communicator, world.rank < count ? 0 : MPI_UNDEFINED, world.rank, &part);
    return Communicator{part};
}

}  // namespace tare::npb
