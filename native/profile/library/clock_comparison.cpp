// SPDX-License-Identifier: Apache-2.0
#include "profile/library/clock_comparison.hpp"

#include <algorithm>
#include <set>

namespace tare::profile {

namespace {

/// So many that the shortest round trip of them is one that nothing held up.
constexpr int questions = 32;

/// Whose clock is the reference.
constexpr int answerer = 0;

int rank_of_this(const Mpi& mpi) {
    int rank = 0;
    mpi.Comm_rank(mpi.world, &rank);
    return rank;
}

template <typename Item>
std::vector<Item> gather_all(const Mpi& mpi, const Item& own) {
    int ranks = 0;
    mpi.Comm_size(mpi.world, &ranks);
    std::vector<Item> items(static_cast<std::size_t>(ranks));
    mpi.Allgather(&own, sizeof(Item), mpi.byte, items.data(), sizeof(Item), mpi.byte, mpi.world);
    return items;
}

/// A clock that cannot be known is taken for one that no other rank reads. Those that are known are odd.
std::uint64_t clock_of(const Clock& clock, int rank) {
    const std::uint64_t known = clock.identity();
    return known != 0 ? known : (static_cast<std::uint64_t>(rank) + 1) << 1U;
}

/// The first rank of each clock but the reference.
std::vector<int> first_of_each(const std::vector<std::uint64_t>& clocks) {
    std::set<std::uint64_t> seen{clocks.front()};
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < clocks.size(); ++rank) {
        if (seen.insert(clocks[rank]).second) {
            ranks.push_back(static_cast<int>(rank));
        }
    }
    return ranks;
}

}  // namespace

ClockComparison::ClockComparison(const Mpi& mpi, const Clock& clock)
    : mpi_{&mpi}, rank_{rank_of_this(mpi)}, clock_{clock_of(clock, rank_)} {
    if (is_only_node()) {
        return;
    }
    askers_ = first_of_each(gather_all(*mpi_, clock_));
    if (!askers_.empty()) {
        mpi_->Comm_dup(mpi_->world, &communicator_);
        first_ = compare(clock);
        mpi_->Barrier(communicator_);
    }
}

std::vector<RankClock> ClockComparison::conclude(const Clock& clock, double ns_per_tick) {
    ClockNotice own{.clock = clock_, .ns_per_tick = ns_per_tick, .first = first_, .last = {}};
    if (!askers_.empty()) {
        own.last = compare(clock);
        mpi_->Comm_free(&communicator_);
    }
    return rank_clocks(gather_all(*mpi_, own));
}

/// Nothing in ranks that do not ask.
ClockReading ClockComparison::compare(const Clock& clock) const {
    if (rank_ == answerer) {
        std::for_each(askers_.begin(), askers_.end(), [&](int asker) { answer(clock, asker); });
    }
    return std::find(askers_.begin(), askers_.end(), rank_) == askers_.end() ? ClockReading{} : ask(clock);
}

/// The reading with the shortest round trip.
ClockReading ClockComparison::ask(const Clock& clock) const {
    ClockReading best{};
    for (int question = 0; question < questions; ++question) {
        MPI_Status status{};
        ClockReading reading{.asked_ticks = clock.now(), .reference_ticks = 0, .answered_ticks = 0};
        mpi_->Send(nullptr, 0, mpi_->byte, answerer, 0, communicator_);
        mpi_->Recv(&reading.reference_ticks, sizeof reading.reference_ticks, mpi_->byte, answerer, 0,
                   communicator_, &status);
        reading.answered_ticks = clock.now();
        if (question == 0 || reading.round_trip_ticks() < best.round_trip_ticks()) {
            best = reading;
        }
    }
    return best;
}

void ClockComparison::answer(const Clock& clock, int asker) const {
    for (int question = 0; question < questions; ++question) {
        MPI_Status status{};
        mpi_->Recv(nullptr, 0, mpi_->byte, asker, 0, communicator_, &status);
        const std::int64_t now_ticks = clock.now();
        mpi_->Send(&now_ticks, sizeof now_ticks, mpi_->byte, asker, 0, communicator_);
    }
}

}  // namespace tare::profile
