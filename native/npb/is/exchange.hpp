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
#include "npb/is/keys.hpp"

namespace tare::npb::is {

/// An inbox grows by a sixteenth more than is needed: the iterations change few keys.
constexpr std::size_t inbox_spare = 16;

/// Values in a row.
struct Range {
    std::uint32_t first_value;
    std::uint32_t values;
    /// How many keys of all ranks lie below them.
    std::uint32_t first_rank;

    [[nodiscard]] constexpr bool holds(std::uint32_t value) const { return value - first_value < values; }
};

/// Keys of one bucket that came from one rank.
struct Segment {
    /// The bucket's first value.
    std::uint32_t first_value;
    /// The keys, as offsets from it.
    std::span<const std::uint16_t> offsets;
};

/// Where each rank's part of a message begins, and how long it is, as MPI wants it.
struct Message {
    explicit Message(std::size_t ranks) : starts(ranks), counts(ranks) {}

    std::vector<int> starts;
    std::vector<int> counts;
};

/// The buckets' sizes over all ranks. The watched values go along in the same message: what comes back is
/// their sum over ranks.
[[nodiscard]] std::vector<std::uint32_t> totals_of(const World& world, std::span<const std::uint32_t> sizes,
                                                   std::span<std::uint32_t> watched);

/// Sends every key to the rank that ranks its value. Values lie in buckets, and each rank has some buckets in
/// a row, as many as give all ranks about equally many keys. A key travels as its offset within its bucket,
/// in 16 bits. An iteration calls `measure`, `agree`, `fill`, `start` and `finish`, in this order.
class Exchange {
  public:
    /// The threads share this rank's work; they and the keys stay the caller's.
    Exchange(const World& world, Simd simd, Team& team, const Sizes& sizes,
             std::span<const std::uint32_t> keys);

    /// Counts this rank's keys in buckets.
    void measure() { outbox_.measure(); }
    /// The same from the counts of all values of these keys.
    void measure(Tally counts) { outbox_.measure(counts, values_); }
    /// Divides the buckets of all ranks (`totals_of`).
    void agree(std::span<std::uint32_t> watched);
    /// Sorts this rank's keys into buckets.
    void fill() { outbox_.fill(); }
    /// Puts this rank's keys of others' values together, each rank's without order.
    void fill_others();
    /// Begins to send buckets to their ranks.
    void start();
    /// Waits for the keys of other ranks.
    void finish();

    /// This rank's values: there after `agree`.
    [[nodiscard]] Range range() const;
    /// The same in `parts` parts, of about equally many keys.
    [[nodiscard]] std::vector<Range> ranges() const;
    /// This rank's own keys of its own values: there after `fill`.
    [[nodiscard]] std::vector<Segment> kept() const;
    /// Those from the other ranks, bucket by bucket: there after `finish`.
    [[nodiscard]] std::vector<Segment> received() const;
    /// The same after `fill_others` in all ranks, as whole keys.
    [[nodiscard]] std::vector<Segment> received_keys() const;

  private:
    /// This rank's buckets: the first one, and how many.
    [[nodiscard]] std::size_t first_own() const;
    [[nodiscard]] std::size_t own_buckets() const;
    /// The values of buckets in a row.
    [[nodiscard]] Range range_of(std::size_t first, std::size_t last) const;
    [[nodiscard]] std::uint32_t first_value_of(std::size_t bucket) const;
    void tell_sizes();
    void plan_sent();
    void plan_awaited();

    World world_;
    int parts_;
    std::int64_t values_;
    int shift_;
    Buckets outbox_;
    /// Keys of all ranks in each bucket.
    std::vector<std::uint32_t> totals_{};
    /// Rank r has the buckets from first_bucket_[r] to first_bucket_[r + 1].
    std::vector<int> first_bucket_{};
    /// Keys that each rank (slow index) has in each of this rank's buckets (fast index).
    std::vector<std::uint32_t> incoming_{};
    Message sent_;
    Message awaited_;
    Buffer<std::uint16_t> inbox_{};
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace tare::npb::is
