// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace tare::npb::ft {

/// Complex numbers that lie side by side in x form a block: their real parts, then their imaginary parts, one
/// cache line each. Code of every vector width reads such blocks without shuffles.
constexpr std::ptrdiff_t block_points = 8;
constexpr std::ptrdiff_t block_doubles = 2 * block_points;

/// Blocks side by side that go together through a transform along y, and rows that go together through one
/// along x: their work fits the first cache.
constexpr std::ptrdiff_t group_blocks = 4;
constexpr std::ptrdiff_t group_rows = 2;
constexpr std::ptrdiff_t group_doubles = group_blocks * block_doubles;

/// A transform along y has two factors: of every eighth row of a plane (an xy tile), together with those
/// along x, and of eight rows (the last butterfly), together with those along z (a yz tile). So both fit the
/// second cache.
constexpr std::ptrdiff_t y_radix = 8;

/// Appended to what would be a power of two apart in memory: such addresses share one set of a cache.
constexpr std::ptrdiff_t padding_doubles = group_doubles;

/// From one element of a work memory to the next, of `lines` blocks each: an odd number of cache lines, as
/// the elements that a butterfly takes are a power of two of them apart.
[[nodiscard, gnu::always_inline]] constexpr std::ptrdiff_t work_element_doubles(std::ptrdiff_t lines) {
    return lines * block_doubles + block_points;
}

}  // namespace tare::npb::ft
