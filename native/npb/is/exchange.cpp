// SPDX-License-Identifier: Apache-2.0
#include "npb/is/exchange.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "npb/is/division.hpp"

namespace tare::npb::is {

namespace {

int sum(std::span<const std::uint32_t> values) {
    return static_cast<int>(std::accumulate(values.begin(), values.end(), std::uint32_t{0}));
}

}  // namespace

std::vector<std::uint32_t> totals_of(const World& world, std::span<const std::uint32_t> sizes,
                                     std::span<std::uint32_t> watched) {
    std::vector<std::uint32_t> totals(sizes.begin(), sizes.end());
    totals.insert(totals.end(), watched.begin(), watched.end());
    MPI_Allreduce(MPI_IN_PLACE, totals.data(), static_cast<int>(totals.size()), MPI_UINT32_T, MPI_SUM,
                  world.communicator);
    std::copy(totals.end() - std::ssize(watched), totals.end(), watched.begin());
    totals.resize(sizes.size());
    return totals;
}

Exchange::Exchange(const World& world, Simd simd, Team& team, const Sizes& sizes,
                   std::span<const std::uint32_t> keys)
    : world_{world},
      parts_{team.threads()},
      values_{sizes.values()},
      shift_{sizes.values_exponent - buckets_exponent(world.ranks * team.threads(), sizes.values_exponent)},
      outbox_{simd, team, shift_, sizes.values() >> static_cast<unsigned>(shift_), keys},
      sent_(static_cast<std::size_t>(world.ranks)),
      awaited_(static_cast<std::size_t>(world.ranks)) {}

void Exchange::agree(std::span<std::uint32_t> watched) {
    totals_ = totals_of(world_, outbox_.sizes(), watched);
    first_bucket_ = divide(totals_, world_.ranks);
    tell_sizes();
    plan_sent();
    plan_awaited();
}

/// Every rank learns how many keys of its buckets each other rank has.
void Exchange::tell_sizes() {
    const auto ranks = static_cast<std::size_t>(world_.ranks);
    Message told{ranks};
    Message heard{ranks};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        told.starts[rank] = first_bucket_[rank];
        told.counts[rank] = first_bucket_[rank + 1] - first_bucket_[rank];
        heard.starts[rank] = static_cast<int>(rank * own_buckets());
        heard.counts[rank] = static_cast<int>(own_buckets());
    }
    incoming_.resize(own_buckets() * ranks);
    MPI_Alltoallv(outbox_.sizes().data(), told.counts.data(), told.starts.data(), MPI_UINT32_T,
                  incoming_.data(), heard.counts.data(), heard.starts.data(), MPI_UINT32_T,
                  world_.communicator);
}

/// The outbox holds all buckets in order, those that stay among them.
void Exchange::plan_sent() {
    const auto start = [this](std::size_t rank) {
        return static_cast<int>(outbox_.starts()[static_cast<std::size_t>(first_bucket_[rank])]);
    };
    for (std::size_t rank = 0; rank < sent_.counts.size(); ++rank) {
        sent_.starts[rank] = start(rank);
        sent_.counts[rank] = std::cmp_equal(rank, world_.rank) ? 0 : start(rank + 1) - start(rank);
    }
}

/// The inbox holds what each rank sends, one rank after the other.
void Exchange::plan_awaited() {
    const std::size_t own = own_buckets();
    int wanted = 0;
    for (std::size_t rank = 0; rank < awaited_.counts.size(); ++rank) {
        awaited_.starts[rank] = wanted;
        awaited_.counts[rank] =
            std::cmp_equal(rank, world_.rank) ? 0 : sum(std::span{incoming_}.subspan(rank * own, own));
        wanted += awaited_.counts[rank];
    }
    if (const auto size = static_cast<std::size_t>(wanted); size > inbox_.size()) {
        inbox_ = Buffer<std::uint16_t>(size + size / inbox_spare);
    }
}

/// From the first rank on: what is written beyond one rank's keys belongs to a later one.
void Exchange::fill_others() {
    for (int rank = 0; rank < world_.ranks; ++rank) {
        if (rank != world_.rank) {
            const auto first = first_bucket_.begin() + rank;
            outbox_.fill_together(static_cast<std::size_t>(*first),
                                  static_cast<std::size_t>(*std::next(first)));
        }
    }
}

void Exchange::start() {
    MPI_Ialltoallv(outbox_.offsets().data(), sent_.counts.data(), sent_.starts.data(), MPI_UINT16_T,
                   inbox_.data(), awaited_.counts.data(), awaited_.starts.data(), MPI_UINT16_T,
                   world_.communicator, &request_);
}

void Exchange::finish() {
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): `start` made the request
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
}

std::size_t Exchange::first_own() const {
    return static_cast<std::size_t>(first_bucket_[static_cast<std::size_t>(world_.rank)]);
}

std::size_t Exchange::own_buckets() const {
    return static_cast<std::size_t>(first_bucket_[static_cast<std::size_t>(world_.rank) + 1]) - first_own();
}

std::uint32_t Exchange::first_value_of(std::size_t bucket) const {
    return static_cast<std::uint32_t>(bucket << static_cast<unsigned>(shift_));
}

Range Exchange::range_of(std::size_t first, std::size_t last) const {
    return {.first_value = first_value_of(first),
            .values = first_value_of(last - first),
            .first_rank = static_cast<std::uint32_t>(sum(std::span{totals_}.first(first)))};
}

Range Exchange::range() const { return range_of(first_own(), first_own() + own_buckets()); }

std::vector<Range> Exchange::ranges() const {
    const auto first = divide(std::span{totals_}.subspan(first_own(), own_buckets()), parts_);
    std::vector<Range> found;
    for (std::size_t part = 0; part + 1 < first.size(); ++part) {
        found.push_back(range_of(first_own() + static_cast<std::size_t>(first[part]),
                                 first_own() + static_cast<std::size_t>(first[part + 1])));
    }
    return found;
}

std::vector<Segment> Exchange::kept() const {
    std::vector<Segment> found;
    for (std::size_t bucket = first_own(); bucket < first_own() + own_buckets(); ++bucket) {
        found.push_back(
            {.first_value = first_value_of(bucket),
             .offsets = outbox_.offsets().subspan(outbox_.starts()[bucket], outbox_.sizes()[bucket])});
    }
    return found;
}

std::vector<Segment> Exchange::received() const {
    std::vector<Segment> found;
    std::vector<int> place = awaited_.starts;
    for (std::size_t bucket = 0; bucket < own_buckets(); ++bucket) {
        for (std::size_t rank = 0; rank < awaited_.counts.size(); ++rank) {
            if (std::cmp_equal(rank, world_.rank)) {
                continue;
            }
            const auto count = incoming_[rank * own_buckets() + bucket];
            found.push_back({.first_value = first_value_of(first_own() + bucket),
                             .offsets = inbox_.span().subspan(static_cast<std::size_t>(place[rank]), count)});
            place[rank] += static_cast<int>(count);
        }
    }
    return found;
}

std::vector<Segment> Exchange::received_keys() const {
    std::vector<Segment> found;
    for (std::size_t rank = 0; rank < awaited_.counts.size(); ++rank) {
        found.push_back({.first_value = 0,
                         .offsets = inbox_.span().subspan(static_cast<std::size_t>(awaited_.starts[rank]),
                                                          static_cast<std::size_t>(awaited_.counts[rank]))});
    }
    return found;
}

}  // namespace tare::npb::is
