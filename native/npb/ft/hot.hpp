// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "npb/common/simd.hpp"

namespace tare::npb::ft {

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

/// Where lines come from or go to: each element's place in a first line; how far from there the line in hand
/// is (`start_doubles`); how far from it the next row or the next group of columns.
struct Side {
    double* const* element = nullptr;
    std::ptrdiff_t start_doubles = 0;
    std::ptrdiff_t next_doubles = 0;
};

/// What is to be read after the work in hand: the first piece of each element, then the second, and so on. It
/// is brought to the second cache a little at a time: asking for all of it at once would crowd the way to the
/// memory for a moment and leave it empty after that.
struct Ahead {
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
    Side from{};
    Side to{};
    std::ptrdiff_t blocks = 0;
    Direction direction = Direction::forward;
    /// Whether what is written goes past the caches.
    bool is_streamed = false;
    /// `length` elements of a work memory, of group_blocks blocks each.
    double* work = nullptr;
    Ahead* ahead = nullptr;
};

/// Transforms of rows, lines along x.
struct Rows {
    /// Of length / block_points.
    const Line* line = nullptr;
    /// exp(-2 pi i lane k / length), a block of lanes for each k < length / block_points.
    const double* lane_twiddle = nullptr;
    /// The elements are blocks.
    Side from{};
    Side to{};
    std::ptrdiff_t rows = 0;
    Direction direction = Direction::forward;
    /// Twice `line->length` elements of a work memory, of group_rows blocks each.
    double* work = nullptr;
    Ahead* ahead = nullptr;
};

/// Transforms of a group of blocks of a bundle: over its rows, and then of each row along z.
struct Bundle {
    /// Along z.
    const Line* line = nullptr;
    /// exp(-2 pi i number j / ny), re and im for each row j, where `number` is that of the bundle.
    const double* row_twiddle = nullptr;
    /// The elements are planes.
    Side from{};
    std::ptrdiff_t from_row_doubles = 0;
    Side to{};
    std::ptrdiff_t to_row_doubles = 0;
    std::ptrdiff_t blocks = 0;
    bool is_streamed = false;
    /// bundle_rows * (length + 1) elements of a work memory, of `blocks` blocks each.
    double* work = nullptr;
    Ahead ahead{};
};

/// What the elements of a group are multiplied with: row[j] * along[z] * across[x].
struct Factors {
    const double* row = nullptr;
    const double* along = nullptr;
    const double* across = nullptr;
};

struct Functions {
    void (*transform_columns)(const Columns& columns);
    void (*transform_rows)(const Rows& rows);
    /// Turns the rows, then transforms over them: the second step of a transform along y.
    void (*transform_bundle)(const Bundle& bundle);
    /// Multiplies, transforms over the rows, then turns them: the first step of an inverse transform along y.
    void (*transform_bundle_inverse)(const Bundle& bundle, const Factors& factors);
    /// The complex numbers whose random states follow `state`, `points` of them, a multiple of 64.
    void (*fill)(std::uint64_t state, std::ptrdiff_t points, double* to);
};

TARE_NPB_VARIANTS(Functions)

}  // namespace tare::npb::ft
