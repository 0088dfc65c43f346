// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/pencils.hpp"

#include "npb/common/random.hpp"
#include "npb/ft/pencil_fft.hpp"

// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays): hot sources hold no containers
namespace tare::npb::ft::TARE_NPB_SIMD {

namespace {

// The initial field: pseudo-random numbers, many numbers of the sequence side by side.

constexpr std::ptrdiff_t points_at_once = 64;
constexpr std::ptrdiff_t doubles_at_once = 2 * points_at_once;
constexpr std::size_t cache_line_byte = 64;

/// 46 bits into the mantissa of a number in [1, 2) at 2^52: exact, and vectors of every width can do it.
[[gnu::always_inline]] inline double uniform(std::uint64_t state) {
    constexpr std::uint64_t exponent = 0x4330000000000000;
    constexpr double offset = 0x1p52;
    return random_unit * (__builtin_bit_cast(double, state | exponent) - offset);
}

/// Steps from the start of the sequence to each double of a stretch of blocks: re and im follow each other.
[[gnu::always_inline]] constexpr std::ptrdiff_t steps_to(std::ptrdiff_t index) {
    const std::ptrdiff_t block = index / block_doubles;
    const std::ptrdiff_t within = index % block_doubles;
    return 2 * (block * block_points + within % block_points) + within / block_points + 1;
}

/// a^steps of each double of a stretch.
struct Powers {
    constexpr Powers() {
        for (std::ptrdiff_t index = 0; index < doubles_at_once; ++index) {
            value[index] = random_power(static_cast<std::uint64_t>(steps_to(index)));
        }
    }
    std::uint64_t value[doubles_at_once]{};
};

constexpr Powers powers;

void fill(std::uint64_t state, std::ptrdiff_t points, double* to) {
    alignas(cache_line_byte) std::uint64_t states[doubles_at_once];
    for (std::ptrdiff_t index = 0; index < doubles_at_once; ++index) {
        states[index] = random_product(state, powers.value[index]);
    }
    constexpr std::uint64_t stride = random_power(doubles_at_once);
    for (std::ptrdiff_t point = 0; point < points; point += points_at_once) {
        for (std::ptrdiff_t index = 0; index < doubles_at_once; ++index) {
            to[index] = uniform(states[index]);
            states[index] = random_product(states[index], stride);
        }
        to += doubles_at_once;
    }
}

// Transforms along x, the dimension that the lanes lie along. A row of 8 m points is, for each lane, a line
// of m points at a distance of 8; what remains are transforms over the 8 lanes, after a twiddle for each lane
// and a transposition (the four-step method, Bailey 1990).

/// `width` blocks of the same row after the transforms of each lane, multiplied with twiddles, their lanes
/// made elements.
[[gnu::always_inline]] inline void gather_lanes(const double* block, Index next, const double* twiddle,
                                                Complex (&lane)[block_points]) {
#pragma GCC unroll 8
    for (int part = 0; part < block_points; part += width) {
        Vector re[width];
        Vector im[width];
#pragma GCC unroll 8
        for (int index = 0; index < width; ++index) {
            const double* const at = block + index * next + part;
            const double* const twiddle_at = twiddle + index * block_doubles + part;
            const Complex twiddled =
                times({load(at), load(at + block_points)}, load(twiddle_at), load(twiddle_at + block_points));
            re[index] = twiddled.re;
            im[index] = twiddled.im;
        }
        transpose(re);
        transpose(im);
#pragma GCC unroll 8
        for (int index = 0; index < width; ++index) {
            lane[part + index] = {re[index], im[index]};
        }
    }
}

/// Transforms over the lanes of some rows, `lines` of them, that lie block by block in the work memory.
[[gnu::always_inline]] inline void combine_lanes(const Rows& rows, const Strided& work, const Table& to,
                                                 Stride out, Index lines) {
    double* sink[block_points];
#pragma GCC unroll 8
    for (Index index = 0; index < block_points; ++index) {
        sink[index] = to.at(out.first + index * out.step);
    }
    for (Index line = 0; line < lines; ++line) {
        for (Index vector = 0; vector < block_vectors; ++vector) {
            const Index point = out.first * block_points + vector * width;
            Complex lane[block_points];
            gather_lanes(work.at(point) + line * block_doubles, work.element_doubles,
                         rows.lane_twiddle + point * block_doubles, lane);
            butterfly(lane);
#pragma GCC unroll 8
            for (Index index = 0; index < block_points; ++index) {
                to.write(sink[index], {line, vector}, lane[index]);
            }
        }
    }
}

[[gnu::always_inline]] inline void transform_together(const Rows& rows, const Table& from, const Table& to,
                                                      Index lines, Prefetch& prefetch) {
    const Index blocks = rows.line->length;
    const Index element_doubles = work_element_doubles(lines);
    const Strided work{rows.work + blocks * element_doubles, element_doubles};
    transform(*rows.line, from, work, lines, rows.work, prefetch);
    const Index step_blocks = blocks / block_points;
    for (Index first = 0; first < step_blocks; ++first) {
        combine_lanes(rows, work, to, {first, step_blocks}, lines);
        prefetch_some(prefetch);
        prefetch_some(prefetch);
    }
}

void transform_rows(const Rows& rows) {
    Prefetch prefetch = *rows.prefetch;
    for (Index first = 0; first < rows.rows; first += group_rows) {
        const Index lines = smaller(group_rows, rows.rows - first);
        const Table from =
            table_of(rows.from, first * rows.from.next_doubles, rows.from.next_doubles, rows.direction);
        const Table to =
            table_of(rows.to, first * rows.to.next_doubles, rows.to.next_doubles, rows.direction);
        transform_together(rows, from, to, lines, prefetch);
    }
    *rows.prefetch = prefetch;
}

// Pencils along y within an xy tile: the lanes are neighbours in x, so that they need no shuffles.

void transform_columns(const Columns& columns) {
    Prefetch prefetch = *columns.prefetch;
    for (Index block = 0; block < columns.blocks; block += group_blocks) {
        const Index lines = smaller(group_blocks, columns.blocks - block);
        const Index group = block / group_blocks;
        const Table from =
            table_of(columns.from, group * columns.from.next_doubles, block_doubles, columns.direction);
        const Table to =
            table_of(columns.to, group * columns.to.next_doubles, block_doubles, columns.direction);
        if (columns.is_streamed) {
            transform(*columns.line, from, Streamed{to}, lines, columns.work, prefetch);
        } else {
            transform(*columns.line, from, to, lines, columns.work, prefetch);
        }
    }
    finish_streams();
    *columns.prefetch = prefetch;
}

// yz tiles: the last butterfly along y, then pencils along z. The lanes are neighbours in x, so that they
// need no shuffles.

constexpr int radix = y_radix;

/// The rows of one plane in the work memory, where each row has all of its planes together.
[[gnu::always_inline]] inline Strided work_of(const YzTile& tile, Index plane) {
    const Index plane_doubles = work_element_doubles(tile.blocks);
    return {tile.work + plane * plane_doubles, (tile.line->length + 1) * plane_doubles};
}

[[gnu::always_inline]] inline Strided rows_of(const YzTile& tile, Index plane, Direction direction) {
    return {tile.from.element[plane] + tile.from.start_doubles, tile.from_row_doubles, parts_for(direction)};
}

template <typename To>
[[gnu::always_inline]] inline void transform_lines(const YzTile& tile, const To& first, Prefetch& prefetch) {
    To to = first;
    for (Index row = 0; row < y_radix; ++row) {
        double* const here = work_of(tile, 0).at(row);
        transform(*tile.line, Strided{here, work_element_doubles(tile.blocks)}, to, tile.blocks, here,
                  prefetch);
        to.shift += tile.to_row_doubles;
    }
}

void transform_all_lines(const YzTile& tile, Direction direction, Prefetch& prefetch) {
    const Table to = table_of(tile.to, 0, block_doubles, direction);
    if (tile.is_streamed) {
        transform_lines(tile, Streamed{to}, prefetch);
    } else {
        transform_lines(tile, to, prefetch);
    }
    finish_streams();
}

void transform_yz_tile(const YzTile& tile) {
    Prefetch prefetch = tile.prefetch;
    for (Index plane = 0; plane < tile.line->length; ++plane) {
        const Twiddled from{rows_of(tile, plane, Direction::forward), tile.row_twiddle};
        combine<radix, false>(from, {0, 1}, work_of(tile, plane), {0, 1}, nullptr, tile.blocks, prefetch);
    }
    transform_all_lines(tile, Direction::forward, prefetch);
}

void transform_yz_tile_inverse(const YzTile& tile, const Factors& factors) {
    Prefetch prefetch = tile.prefetch;
    for (Index plane = 0; plane < tile.line->length; ++plane) {
        const Evolved from{rows_of(tile, plane, Direction::inverse), factors.row, factors.along[plane],
                           factors.across};
        // The first row has no twiddle.
        combine<radix, true>(from, {0, 1}, work_of(tile, plane), {0, 1}, tile.row_twiddle + 2, tile.blocks,
                             prefetch);
    }
    transform_all_lines(tile, Direction::inverse, prefetch);
}

}  // namespace

Functions functions() {
    return {.transform_columns = transform_columns,
            .transform_rows = transform_rows,
            .transform_yz_tile = transform_yz_tile,
            .transform_yz_tile_inverse = transform_yz_tile_inverse,
            .fill = fill};
}

}  // namespace tare::npb::ft::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays)
