// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "npb/common/simd.hpp"

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

/// Only the sign of the exponent differs: exp(-2 pi i / n) forward, exp(+2 pi i / n) in the inverse.
/// Exchanging real and imaginary parts on the way in and on the way out turns the one into the other.
enum class Direction { forward, inverse };

/// One step of a decomposition in frequency: `radix` parts of `next` elements each are combined, then each
/// part is a transform of its own.
struct Pass {
    std::ptrdiff_t radix = 0;
    std::ptrdiff_t next = 0;
    /// exp(-2 pi i j k / (radix * next)), re and im for k = 1..radix-1 side by side, for each j < next.
    const double* twiddle = nullptr;
};

constexpr int most_passes = 5;

/// How a line of `length` elements is transformed.
struct Line {
    std::ptrdiff_t length = 0;
    int passes = 0;
    Pass pass[most_passes]{};  // NOLINT(*-avoid-c-arrays): hot sources hold no containers
    /// The last pass's butterflies are done in the order of the work memory; butterfly q gives elements
    /// position[q] + k * length / radix.
    const std::ptrdiff_t* position = nullptr;
};

/// Where lines come from or go to: each element's address in a first line; how far from there the line in
/// hand is (`start_doubles`); how far from it the next row or the next group of columns.
struct Pencils {
    double* const* element = nullptr;
    std::ptrdiff_t start_doubles = 0;
    std::ptrdiff_t next_doubles = 0;
};

/// What is to be read after the work in hand: the first piece of each element, then the second, and so on. It
/// is brought to the second cache a little at a time: asking for all of it at once would crowd the way to the
/// memory for a moment and leave it empty after that.
struct Prefetch {
    double* const* element = nullptr;
    std::ptrdiff_t elements = 0;
    std::ptrdiff_t start_doubles = 0;
    std::ptrdiff_t piece_doubles = 0;
    std::ptrdiff_t next_piece_doubles = 0;
    std::ptrdiff_t pieces = 0;
    std::ptrdiff_t next_element = 0;
    /// Pieces asked for with each butterfly of a group of lines.
    int pace = 1;
};

/// Transforms of columns, lines along y of all x.
struct Columns {
    const Line* line = nullptr;
    Pencils from{};
    Pencils to{};
    std::ptrdiff_t blocks = 0;
    Direction direction = Direction::forward;
    /// Whether what is written goes past the caches.
    bool is_streamed = false;
    /// `length` elements of a work memory, of group_blocks blocks each.
    double* work = nullptr;
    Prefetch* prefetch = nullptr;
};

/// Transforms of rows, lines along x.
struct Rows {
    /// Of length / block_points.
    const Line* line = nullptr;
    /// exp(-2 pi i lane k / length), a block of lanes for each k < length / block_points.
    const double* lane_twiddle = nullptr;
    /// The elements are blocks.
    Pencils from{};
    Pencils to{};
    std::ptrdiff_t rows = 0;
    Direction direction = Direction::forward;
    /// Twice `line->length` elements of a work memory, of group_rows blocks each.
    double* work = nullptr;
    Prefetch* prefetch = nullptr;
};

/// A yz tile, some blocks of x of the eight rows of a butterfly along y: transforms over the rows, and then
/// of each row along z.
struct YzTile {
    /// Along z.
    const Line* line = nullptr;
    /// exp(-2 pi i number j / ny), re and im for each row j, where `number` is that of the butterfly.
    const double* row_twiddle = nullptr;
    /// The elements are planes.
    Pencils from{};
    std::ptrdiff_t from_row_doubles = 0;
    Pencils to{};
    std::ptrdiff_t to_row_doubles = 0;
    std::ptrdiff_t blocks = 0;
    bool is_streamed = false;
    /// y_radix * (length + 1) elements of a work memory, of `blocks` blocks each.
    double* work = nullptr;
    Prefetch prefetch{};
};

/// What the elements of a tile are multiplied with: row[j] * along[z] * across[x].
struct Factors {
    const double* row = nullptr;
    const double* along = nullptr;
    const double* across = nullptr;
};

struct Functions {
    void (*transform_columns)(const Columns& columns);
    void (*transform_rows)(const Rows& rows);
    /// Multiplies the rows with twiddles, then transforms over them: the second factor of a transform along
    /// y.
    void (*transform_yz_tile)(const YzTile& tile);
    /// Evolves, transforms over the rows, then multiplies them with twiddles: the first factor of an inverse
    /// transform along y.
    void (*transform_yz_tile_inverse)(const YzTile& tile, const Factors& factors);
    /// The complex numbers whose random states follow `state`, `points` of them, a multiple of 64.
    void (*fill)(std::uint64_t state, std::ptrdiff_t points, double* to);
};

TARE_NPB_VARIANTS(Functions)

}  // namespace tare::npb::ft
