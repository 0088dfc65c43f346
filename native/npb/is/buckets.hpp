// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/team.hpp"
#include "npb/is/counting.hpp"

namespace tare::npb::is {

/// Where parts of these lengths begin when they lie one after another, and where the last one ends.
[[nodiscard]] std::vector<std::uint32_t> starts_of(std::span<const std::uint32_t> counts);

/// This rank's keys, sorted into buckets: bucket b holds the keys from b 2^shift on, as offsets from there.
class Buckets {
  public:
    /// The threads share the work; they and the keys stay the caller's.
    Buckets(Simd simd, Team& team, int shift, std::size_t buckets, std::span<const std::uint32_t> keys);

    /// Counts the keys of each bucket.
    void measure();
    /// The same from the counts of all these keys' values, from 0 on.
    void measure(Tally counts, std::int64_t values);
    /// Puts the keys into the buckets that `measure` has counted.
    void fill();
    /// The same with whole keys.
    void fill_whole();
    /// Puts the keys of the buckets from `first` to `last` there, in the order in which they lie, as whole
    /// keys. What lies in the following buckets is lost.
    void fill_together(std::size_t first, std::size_t last);

    /// Keys of each bucket: there after `measure`.
    [[nodiscard]] std::span<const std::uint32_t> sizes() const { return sizes_; }
    /// Where each bucket begins in `offsets`, and where the last one ends: there after `measure`.
    [[nodiscard]] std::span<const std::uint32_t> starts() const { return starts_; }
    /// All buckets in order: there after `fill`.
    [[nodiscard]] std::span<const std::uint16_t> offsets() const { return offsets_.span(); }
    /// The same, after `fill_whole`.
    [[nodiscard]] std::span<const std::uint32_t> whole() const { return whole_.span(); }

  private:
    /// The keys that one thread works on, and how many of them each bucket gets.
    struct Slice {
        std::span<const std::uint32_t> keys;
        std::vector<std::uint32_t> sizes;
    };

    template <typename Kept>
    using Fill = void (*)(const std::uint32_t* keys, std::int64_t count, int shift, std::uint32_t* next,
                          Kept* kept);
    template <typename Kept>
    void fill_by(Fill<Kept> loop, Kept* kept);

    Team* team_;
    Functions functions_;
    int shift_;
    std::span<const std::uint32_t> keys_;
    std::vector<Slice> slices_{};
    std::vector<std::uint32_t> sizes_;
    std::vector<std::uint32_t> starts_{};
    Buffer<std::uint16_t> offsets_;
    Buffer<std::uint32_t> whole_{};
};

}  // namespace tare::npb::is
