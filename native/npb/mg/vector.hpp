// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "npb/common/vector_width.hpp"
#include "npb/mg/operators.hpp"

// The widest vectors of doubles of this variant, and how they move along a row. For hot sources only: always
// inline, in the variant's own namespace.
namespace tare::npb::mg::TARE_NPB_SIMD {

constexpr int width = vector_doubles;

using Vector [[gnu::vector_size(vector_byte), gnu::may_alias]] = double;
using Lanes = std::make_integer_sequence<int, width>;

[[gnu::always_inline]] inline Vector load(const double* from) {
    return *reinterpret_cast<const Vector*>(from);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

[[gnu::always_inline]] inline void store(double* into, Vector value) {
    *reinterpret_cast<Vector*>(into) = value;  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

template <int... lane>
[[gnu::always_inline]] inline Vector moved_up(Vector before, Vector here,
                                              std::integer_sequence<int, lane...> /*lanes*/) {
    return __builtin_shufflevector(before, here, (lane + width - 1)...);
}

template <int... lane>
[[gnu::always_inline]] inline Vector moved_down(Vector here, Vector after,
                                                std::integer_sequence<int, lane...> /*lanes*/) {
    return __builtin_shufflevector(here, after, (lane + 1)...);
}

/// Each place's left neighbour; `before` is the vector to the left of `here`.
[[gnu::always_inline]] inline Vector left_of(Vector before, Vector here) {
    return moved_up(before, here, Lanes{});
}

/// Each place's right neighbour; `after` is the vector to the right of `here`.
[[gnu::always_inline]] inline Vector right_of(Vector here, Vector after) {
    return moved_down(here, after, Lanes{});
}

template <int first, int... lane>
[[gnu::always_inline]] inline Vector alternated(Vector left, Vector right,
                                                std::integer_sequence<int, lane...> /*lanes*/) {
    return __builtin_shufflevector(left, right, (first + lane / 2 + (lane % 2) * width)...);
}

/// The first half of left[0], right[0], left[1], right[1], ...
[[gnu::always_inline]] inline Vector interleaved_low(Vector left, Vector right) {
    return alternated<0>(left, right, Lanes{});
}

/// The second half of left[0], right[0], left[1], right[1], ...
[[gnu::always_inline]] inline Vector interleaved_high(Vector left, Vector right) {
    return alternated<width / 2>(left, right, Lanes{});
}

template <int first, int... lane>
[[gnu::always_inline]] inline Vector every_second(Vector left, Vector right,
                                                  std::integer_sequence<int, lane...> /*lanes*/) {
    return __builtin_shufflevector(left, right, (first + 2 * lane)...);
}

/// The values at even places of `left` followed by `right`.
[[gnu::always_inline]] inline Vector evens(Vector left, Vector right) {
    return every_second<0>(left, right, Lanes{});
}

[[gnu::always_inline]] inline Vector odds(Vector left, Vector right) {
    return every_second<1>(left, right, Lanes{});
}

/// The same functions, with prolongation and restriction.
[[nodiscard]] Functions with_transfer(Functions functions);

}  // namespace tare::npb::mg::TARE_NPB_SIMD
