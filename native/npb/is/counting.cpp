// SPDX-License-Identifier: Apache-2.0
// The hot loops of IS: keys counted, and sent to their buckets. Each works on several keys per turn, as loads
// and stores at one place in the code make the processor suspect that they meet, and wait.
#include "npb/is/counting.hpp"

#include "npb/is/split.hpp"

// Counting is to index tables by data; a hot source has pointers alone, and no containers.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays,readability-non-const-parameter)
namespace tare::npb::is::TARE_NPB_SIMD {

namespace {

constexpr int unrolled = 8;

/// One more key of this value. A small counter that has come round to 0 has its turn noted in the large one.
template <typename Value>
[[gnu::always_inline]] inline void add(std::uint8_t* __restrict small, std::uint32_t* __restrict large,
                                       Value value) {
    constexpr std::uint32_t turn = 256;
    if (++small[value] == 0) [[unlikely]] {
        large[value] += turn;
    }
}

template <typename Value>
[[gnu::always_inline]] inline void count_all(const Value* __restrict values, std::int64_t count,
                                             std::uint8_t* __restrict small,
                                             std::uint32_t* __restrict large) {
    std::int64_t position = 0;
    for (; position + unrolled <= count; position += unrolled) {
#pragma GCC unroll 8
        for (int ahead = 0; ahead < unrolled; ++ahead) {
            add(small, large, values[position + ahead]);
        }
    }
    for (; position < count; ++position) {
        add(small, large, values[position]);
    }
}

void count_keys(const std::uint32_t* keys, std::int64_t count, Tally tally) {
    count_all(keys, count, tally.small, tally.large);
}

void count_offsets(const std::uint16_t* offsets, std::int64_t count, Tally tally) {
    count_all(offsets, count, tally.small, tally.large);
}

/// Neighbouring keys count in tables of their own: so few buckets are soon met again.
void measure_buckets(const std::uint32_t* __restrict keys, std::int64_t count, int shift, int buckets,
                     std::uint32_t* __restrict sizes) {
    constexpr int tables = 4;
    std::uint32_t table[tables][1 << most_buckets_exponent];
    for (auto& one : table) {
        for (int bucket = 0; bucket < buckets; ++bucket) {
            one[bucket] = 0;
        }
    }
    std::int64_t position = 0;
    for (; position + tables <= count; position += tables) {
#pragma GCC unroll 4
        for (int ahead = 0; ahead < tables; ++ahead) {
            ++table[ahead][keys[position + ahead] >> shift];
        }
    }
    for (; position < count; ++position) {
        ++table[0][keys[position] >> shift];
    }
    for (int bucket = 0; bucket < buckets; ++bucket) {
        sizes[bucket] += table[0][bucket] + table[1][bucket] + table[2][bucket] + table[3][bucket];
    }
}

/// The place where a key goes is seldom in a cache. The store would wait for its line and all later stores
/// with it; the line that is asked for here is the one that the bucket needs next. Where whole keys fit they
/// are kept whole.
template <typename Kept>
[[gnu::always_inline]] inline void put(std::uint32_t key, int shift, std::uint32_t* __restrict next,
                                       Kept* __restrict kept) {
    constexpr int line = 64 / sizeof(Kept);
    const std::uint32_t place = next[key >> shift]++;
    kept[place] =
        static_cast<Kept>(sizeof(Kept) == sizeof(key) ? key : key & ((std::uint32_t{1} << shift) - 1));
    __builtin_prefetch(&kept[place + line], 1);
}

template <typename Kept>
void fill_buckets(const std::uint32_t* __restrict keys, std::int64_t count, int shift,
                  std::uint32_t* __restrict next, Kept* __restrict kept) {
    std::int64_t position = 0;
    for (; position + unrolled <= count; position += unrolled) {
#pragma GCC unroll 8
        for (int ahead = 0; ahead < unrolled; ++ahead) {
            put(keys[position + ahead], shift, next, kept);
        }
    }
    for (; position < count; ++position) {
        put(keys[position], shift, next, kept);
    }
}

void measure_tally(Tally tally, std::int64_t values, int shift, std::uint32_t* __restrict sizes) {
    const std::uint8_t* __restrict small = tally.small;
    const std::uint32_t* __restrict large = tally.large;
    const std::int64_t width = std::int64_t{1} << shift;
    for (std::int64_t first = 0; first < values; first += width) {
        std::uint32_t sum = 0;
        for (std::int64_t value = first; value < first + width; ++value) {
            sum += small[value] + large[value];
        }
        sizes[first >> shift] += sum;
    }
}

void rank(Tally tally, std::int64_t values, std::uint32_t first_rank) {
    const std::uint8_t* __restrict small = tally.small;
    std::uint32_t* __restrict large = tally.large;
    std::uint32_t below = first_rank;
    for (std::int64_t value = 0; value < values; ++value) {
        const std::uint32_t count = small[value] + large[value];
        large[value] = below;
        below += count;
    }
}

}  // namespace

Functions functions() {
    return {.measure_buckets = measure_buckets,
            .fill_buckets = fill_buckets<std::uint16_t>,
            .fill_buckets_whole = fill_buckets<std::uint32_t>,
            .measure_tally = measure_tally,
            .split = split,
            .count_keys = count_keys,
            .count_offsets = count_offsets,
            .rank = rank};
}

}  // namespace tare::npb::is::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays,readability-non-const-parameter)
