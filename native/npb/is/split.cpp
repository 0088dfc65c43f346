// SPDX-License-Identifier: Apache-2.0
// Keys of some values picked out of all, several at once: their lanes move together in a register, and the
// next ones are written over what remains of it.
#include "npb/is/split.hpp"

#ifdef __AVX2__
#include <immintrin.h>
#endif

// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-reinterpret-cast,*-avoid-c-arrays):
// vectors are read from and written to arrays; hot sources hold no containers
namespace tare::npb::is::TARE_NPB_SIMD {

namespace {

constexpr std::int64_t vectors_at_once = 8;

/// Some keys of a few values in a row.
struct Wanted {
    std::uint32_t first_value;
    std::uint32_t values;
};

#if defined(__AVX512F__)

constexpr std::int64_t split_at_once = 16;
using Keys [[gnu::vector_size(64)]] = std::uint32_t;

/// The wanted keys among 16; returns the place after them.
[[gnu::always_inline]] inline std::uint16_t* split_some(const std::uint32_t* keys, Wanted wanted,
                                                        std::uint16_t* to) {
    const __m512i all = _mm512_loadu_si512(keys);
    const auto above = reinterpret_cast<__m512i>(reinterpret_cast<Keys>(all) - wanted.first_value);
    constexpr __mmask16 every = 0xffff;  // GCC 12 warns of the function without a mask
    const __mmask16 mask = _mm512_cmplt_epu32_mask(above, _mm512_set1_epi32(static_cast<int>(wanted.values)));
    const __m256i kept = _mm512_maskz_cvtepi32_epi16(every, _mm512_maskz_compress_epi32(mask, all));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), kept);
    return to + __builtin_popcount(mask);
}

#elif defined(__AVX2__)

constexpr std::int64_t split_at_once = 8;
using Keys [[gnu::vector_size(32)]] = std::uint32_t;

/// For each set of eight lanes the numbers of its lanes, one byte each, the first one lowest.
struct Lanes {
    constexpr Lanes() {
        for (unsigned set = 0; set < sets; ++set) {
            unsigned place = 0;
            for (std::uint64_t lane = 0; lane < split_at_once; ++lane) {
                if ((set >> lane & 1U) != 0) {
                    of[set] |= lane << place;
                    place += byte_bits;
                }
            }
        }
    }
    static constexpr unsigned sets = 256;
    static constexpr unsigned byte_bits = 8;
    std::uint64_t of[sets]{};
};

constexpr Lanes lanes;

/// The wanted keys among eight; returns the place after them.
[[gnu::always_inline]] inline std::uint16_t* split_some(const std::uint32_t* keys, Wanted wanted,
                                                        std::uint16_t* to) {
    const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys));
    const auto is_wanted = reinterpret_cast<Keys>(all) - wanted.first_value < wanted.values;
    const auto set = static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<__m256>(is_wanted)));
    const __m256i order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(lanes.of[set])));
    const __m256i kept = _mm256_permutevar8x32_epi32(all, order);
    const __m256i low_halves = _mm256_and_si256(kept, _mm256_set1_epi32((1 << offset_bits) - 1));
    const __m128i narrow =
        _mm_packus_epi32(_mm256_castsi256_si128(low_halves), _mm256_extracti128_si256(low_halves, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), narrow);
    return to + __builtin_popcount(set);
}

#else

constexpr std::int64_t split_at_once = 1;

/// The key, if it is wanted, or else a number that the next one replaces; the place after it.
[[gnu::always_inline]] inline std::uint16_t* split_some(const std::uint32_t* keys, Wanted wanted,
                                                        std::uint16_t* to) {
    *to = static_cast<std::uint16_t>(*keys);
    return to + static_cast<int>(*keys - wanted.first_value < wanted.values);
}

#endif

}  // namespace

void split(const std::uint32_t* __restrict keys, std::int64_t count, std::uint32_t first_value,
           std::uint32_t values, std::uint16_t* __restrict to) {
    const Wanted wanted{first_value, values};
    std::int64_t position = 0;
    for (; position + vectors_at_once * split_at_once <= count; position += vectors_at_once * split_at_once) {
#pragma GCC unroll 8
        for (std::int64_t ahead = 0; ahead < vectors_at_once; ++ahead) {
            to = split_some(keys + position + ahead * split_at_once, wanted, to);
        }
    }
    for (; position < count; ++position) {
        if (keys[position] - first_value < values) {
            *to++ = static_cast<std::uint16_t>(keys[position]);
        }
    }
}

}  // namespace tare::npb::is::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-reinterpret-cast,*-avoid-c-arrays)
