// SPDX-License-Identifier: Apache-2.0
// yz tiles: the last butterfly along y, then pencils along z. The lanes are neighbours in x, so that they
// need no shuffles.
#include "npb/ft/pencil_fft.hpp"
#include "npb/ft/pencils.hpp"

// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays): hot sources hold no containers
namespace tare::npb::ft::TARE_NPB_SIMD {

namespace {

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

}  // namespace

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

}  // namespace tare::npb::ft::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays)
