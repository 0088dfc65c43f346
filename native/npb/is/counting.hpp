// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "npb/common/simd.hpp"

namespace tare::npb::is {

/// The most buckets that keys are sorted into before they are sent.
constexpr int most_buckets_exponent = 12;
/// A key within its bucket is sent in so many bits.
constexpr int offset_bits = 16;

/// Numbers that `split` may write after the last one: a vector of them.
constexpr int split_spare = 16;

/// How often each value of a stretch was seen: small[value] + large[value], where `large` holds whole turns
/// of the small counter. A quarter of the memory of full counters, hence mostly in the second cache.
struct Tally {
    std::uint8_t* small;
    std::uint32_t* large;
};

/// The loops over keys. `shift` divides keys into buckets: key >> shift is the bucket, the low bits are the
/// offset within it.
struct Functions {
    /// Adds to `sizes` the keys of each bucket.
    void (*measure_buckets)(const std::uint32_t* keys, std::int64_t count, int shift, int buckets,
                            std::uint32_t* sizes);
    /// Writes each key's offset to its bucket's next place in `offsets`.
    void (*fill_buckets)(const std::uint32_t* keys, std::int64_t count, int shift, std::uint32_t* next,
                         std::uint16_t* offsets);
    /// The same with the key itself.
    void (*fill_buckets_whole)(const std::uint32_t* keys, std::int64_t count, int shift, std::uint32_t* next,
                               std::uint32_t* kept);
    /// Adds to `sizes` the keys of each bucket, of `values` values counted from 0 on.
    void (*measure_tally)(Tally tally, std::int64_t values, int shift, std::uint32_t* sizes);
    /// Writes the keys that are `first_value` or one of `values` values from there on, each in 16
    /// bits, one after another. Up to `split_spare` places after the last one are written to.
    void (*split)(const std::uint32_t* keys, std::int64_t count, std::uint32_t first_value,
                  std::uint32_t values, std::uint16_t* to);
    /// Adds keys to the tally.
    void (*count_keys)(const std::uint32_t* keys, std::int64_t count, Tally tally);
    /// Adds keys, given as offsets from the tally's first value.
    void (*count_offsets)(const std::uint16_t* offsets, std::int64_t count, Tally tally);
    /// Turns counts into ranks: large[value] becomes `first_rank` + the number of keys below the value.
    void (*rank)(Tally tally, std::int64_t values, std::uint32_t first_rank);
};

TARE_NPB_VARIANTS(Functions)

}  // namespace tare::npb::is
