// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/team.hpp"
#include "npb/common/world.hpp"
#include "npb/is/buckets.hpp"
#include "npb/is/exchange.hpp"
#include "npb/is/keys.hpp"

namespace tare::npb::is {

/// The exchange with the reference's messages, as profiles of it show them (docs/npb/is.md): in each ranking
/// the sizes of all buckets, then how many keys each rank gets, then every key in 32 bits, also those that
/// stay. An iteration calls `measure`, `agree`, `fill` and `send`, in this order.
class WholeExchange {
  public:
    /// The threads share this rank's work; they and the keys stay the caller's.
    WholeExchange(const World& world, Simd simd, Team& team, const Sizes& sizes,
                  std::span<const std::uint32_t> keys);

    /// Counts this rank's keys in buckets.
    void measure() { outbox_.measure(); }
    /// Divides the buckets of all ranks (`totals_of`), and hears how many keys will come.
    void agree(std::span<std::uint32_t> watched);
    /// Sorts this rank's keys into buckets.
    void fill() { outbox_.fill_whole(); }
    /// Sends buckets to their ranks.
    void send();

    /// This rank's values: there after `agree`.
    [[nodiscard]] Range range() const;
    /// All keys of these values, rank by rank: there after `send`.
    [[nodiscard]] std::span<const std::uint32_t> received() const {
        return inbox_.span().first(awaited_keys_);
    }

  private:
    void plan_sent();
    void plan_awaited();

    World world_;
    int shift_;
    Buckets outbox_;
    /// Keys of all ranks in each bucket.
    std::vector<std::uint32_t> totals_{};
    /// Rank r has the buckets from first_bucket_[r] to first_bucket_[r + 1].
    std::vector<int> first_bucket_{};
    Message sent_;
    Message awaited_;
    std::size_t awaited_keys_ = 0;
    Buffer<std::uint32_t> inbox_{};
};

}  // namespace tare::npb::is
