// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "npb/common/vector_width.hpp"

// For hot sources only: the widest vector of the variant that is being compiled, as an arithmetic type.
// Memory becomes vectors by a cast, and squares of them are plain arrays, which stay in registers.
// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast,cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays)
namespace tare::npb::flow::TARE_NPB_SIMD {

constexpr int lanes = vector_doubles;

using Vector [[gnu::vector_size(vector_byte)]] = double;
using VectorInMemory [[gnu::may_alias]] = Vector;
using VectorAnywhere [[gnu::may_alias, gnu::aligned(sizeof(double))]] = Vector;

/// `from` is aligned to a whole vector.
[[nodiscard, gnu::always_inline]] inline Vector load(const double* from) {
    return *reinterpret_cast<const VectorInMemory*>(from);
}

[[nodiscard, gnu::always_inline]] inline Vector load_unaligned(const double* from) {
    return *reinterpret_cast<const VectorAnywhere*>(from);
}

[[gnu::always_inline]] inline void store(double* into, const Vector& value) {
    *reinterpret_cast<VectorInMemory*>(into) = value;
}

[[nodiscard, gnu::always_inline]] inline Vector root(const Vector& value) {
    Vector result = value;
    for (int lane = 0; lane < lanes; ++lane) {
        result[lane] = __builtin_sqrt(value[lane]);
    }
    return result;
}

/// Of two rows one after the other: the first's even blocks of `size` lanes with the second's in between
/// (`odd` 0), or the first's odd blocks with the second's (`odd` 1).
template <int size, int odd, int... lane>
[[nodiscard, gnu::always_inline]] inline Vector interleaved(const Vector& first, const Vector& second,
                                                            std::integer_sequence<int, lane...> /*lanes*/) {
    return __builtin_shufflevector(
        first, second, ((lane & size) != 0 ? lanes + lane - size * (1 - odd) : lane + size * odd)...);
}

/// Exchanges blocks of `size` lanes between rows that are `size` apart.
template <int size>
[[gnu::always_inline]] inline void swap_blocks(Vector (&rows)[lanes]) {
    constexpr auto all = std::make_integer_sequence<int, lanes>{};
#pragma GCC unroll 8
    for (int row = 0; row < lanes; ++row) {
        if ((row & size) == 0) {
            const Vector first = rows[row];
            const Vector second = rows[row + size];
            rows[row] = interleaved<size, 0>(first, second, all);
            rows[row + size] = interleaved<size, 1>(first, second, all);
        }
    }
}

/// Lane l of row r becomes lane r of row l.
[[gnu::always_inline]] inline void transpose(Vector (&rows)[lanes]) {
    if constexpr (lanes > 4) {
        swap_blocks<4>(rows);
    }
    if constexpr (lanes > 2) {
        swap_blocks<2>(rows);
    }
    swap_blocks<1>(rows);
}

}  // namespace tare::npb::flow::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast,cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays)
