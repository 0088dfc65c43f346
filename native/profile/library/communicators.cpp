// SPDX-License-Identifier: Apache-2.0
#include "profile/library/communicators.hpp"

#include <algorithm>
#include <numeric>

namespace tare::profile {

namespace {

constexpr std::uint64_t world_identity = 1;

/// A bijective mixing of 64 bits: the finalizer of MurmurHash3.
std::uint64_t mixed(std::uint64_t bits) {
    constexpr unsigned half = 33;
    constexpr std::uint64_t first = 0xFF51AFD7ED558CCD;
    constexpr std::uint64_t second = 0xC4CEB9FE1A85EC53;
    bits = (bits ^ (bits >> half)) * first;
    bits = (bits ^ (bits >> half)) * second;
    return bits ^ (bits >> half);
}

std::uint64_t hash_of(const std::vector<int>& ranks) {
    return std::accumulate(
        ranks.begin(), ranks.end(), std::uint64_t{world_identity},
        [](std::uint64_t hash, int rank) { return mixed(hash + static_cast<std::uint64_t>(rank) + 1); });
}

std::vector<int> world_ranks_of(const Mpi& mpi, MPI_Group group, MPI_Group world) {
    int size = 0;
    int world_size = 0;
    mpi.Group_size(group, &size);
    mpi.Group_size(world, &world_size);
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::vector<int> translated(ranks.size());
    mpi.Group_translate_ranks(group, size, ranks.data(), world, translated.data());
    for (int& rank : translated) {
        rank = rank == MPI_UNDEFINED ? world_size : rank;
    }
    return translated;
}

bool is_counting(const std::vector<int>& ranks) {
    int next = 0;
    return std::all_of(ranks.begin(), ranks.end(), [&](int rank) { return rank == next++; });
}

}  // namespace

Communicators::Communicators(const Mpi& mpi) : mpi_{&mpi} {
    mpi_->Comm_group(mpi_->world, &world_);
    Communicator world = describe(mpi_->world);
    world.identity = world_identity;
    known_.emplace(mpi_->world, std::make_shared<const Communicator>(std::move(world)));
}

Communicator Communicators::describe(MPI_Comm handle) const {
    Communicator found{};
    int two_sides = 0;
    mpi_->Comm_test_inter(handle, &two_sides);
    mpi_->Comm_rank(handle, &found.rank);
    mpi_->Comm_size(handle, &found.members);
    found.has_two_sides = two_sides != 0;
    MPI_Group group{};
    (found.has_two_sides ? mpi_->Comm_remote_group : mpi_->Comm_group)(handle, &group);
    found.world_ranks = world_ranks_of(*mpi_, group, world_);
    mpi_->Group_free(&group);
    found.is_like_world = is_counting(found.world_ranks);
    return found;
}

const std::shared_ptr<const Communicator>& Communicators::look_up(MPI_Comm handle) {
    auto& place = known_[handle];
    if (!place) {
        place = std::make_shared<const Communicator>(describe(handle));
    }
    last_ = place->route(handle);
    return last_found_ = place;
}

void Communicators::add_made(MPI_Comm handle) {
    if (handle == mpi_->no_communicator) {
        return;
    }
    Communicator made = describe(handle);
    if (!made.has_two_sides) {
        const std::uint64_t ranks = hash_of(made.world_ranks);
        made.identity = mixed(ranks + ++made_of_ranks_[ranks]) | 1U;
    }
    forget(handle);
    known_.emplace(handle, std::make_shared<const Communicator>(std::move(made)));
}

void Communicators::forget(MPI_Comm handle) {
    known_.erase(handle);
    if (last_.communicator == handle) {
        last_ = {};
        last_found_.reset();
    }
}

}  // namespace tare::profile
