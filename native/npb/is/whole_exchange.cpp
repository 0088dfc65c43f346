// SPDX-License-Identifier: Apache-2.0
#include "npb/is/whole_exchange.hpp"

#include <numeric>

#include "npb/is/division.hpp"

namespace tare::npb::is {

WholeExchange::WholeExchange(const World& world, Simd simd, Team& team, const Sizes& sizes,
                             std::span<const std::uint32_t> keys)
    : world_{world},
      shift_{sizes.values_exponent - reference_buckets_exponent(sizes.keys_exponent, sizes.values_exponent)},
      outbox_{simd, team, shift_, sizes.values() >> static_cast<unsigned>(shift_), keys},
      sent_(static_cast<std::size_t>(world.ranks)),
      awaited_(static_cast<std::size_t>(world.ranks)) {}

void WholeExchange::agree(std::span<std::uint32_t> watched) {
    totals_ = totals_of(world_, outbox_.sizes(), watched);
    first_bucket_ = divide_upwards(totals_, world_.ranks);
    plan_sent();
    MPI_Alltoall(sent_.counts.data(), 1, MPI_INT, awaited_.counts.data(), 1, MPI_INT, world_.communicator);
    plan_awaited();
}

/// The outbox holds all buckets in order.
void WholeExchange::plan_sent() {
    const auto start = [this](std::size_t rank) {
        return static_cast<int>(outbox_.starts()[static_cast<std::size_t>(first_bucket_[rank])]);
    };
    for (std::size_t rank = 0; rank < sent_.counts.size(); ++rank) {
        sent_.starts[rank] = start(rank);
        sent_.counts[rank] = start(rank + 1) - start(rank);
    }
}

/// The inbox holds what each rank sends, one rank after the other.
void WholeExchange::plan_awaited() {
    std::exclusive_scan(awaited_.counts.begin(), awaited_.counts.end(), awaited_.starts.begin(), 0);
    awaited_keys_ =
        static_cast<std::size_t>(awaited_.starts.back()) + static_cast<std::size_t>(awaited_.counts.back());
    if (awaited_keys_ > inbox_.size()) {
        inbox_ = Buffer<std::uint32_t>(awaited_keys_ + awaited_keys_ / inbox_spare);
    }
}

void WholeExchange::send() {
    MPI_Alltoallv(outbox_.whole().data(), sent_.counts.data(), sent_.starts.data(), MPI_UINT32_T,
                  inbox_.data(), awaited_.counts.data(), awaited_.starts.data(), MPI_UINT32_T,
                  world_.communicator);
}

Range WholeExchange::range() const {
    const auto first = static_cast<std::size_t>(first_bucket_[static_cast<std::size_t>(world_.rank)]);
    const auto last = static_cast<std::size_t>(first_bucket_[static_cast<std::size_t>(world_.rank) + 1]);
    const auto shift = static_cast<unsigned>(shift_);
    const auto below = std::span{totals_}.first(first);
    return {.first_value = static_cast<std::uint32_t>(first << shift),
            .values = static_cast<std::uint32_t>((last - first) << shift),
            .first_rank = std::accumulate(below.begin(), below.end(), std::uint32_t{0})};
}

}  // namespace tare::npb::is
