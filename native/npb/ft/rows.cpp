// SPDX-License-Identifier: Apache-2.0
// Transforms along x, the dimension that the lanes lie along. A row of 8 m points is, for each lane, a line
// of m points at a distance of 8; what remains are transforms over the 8 lanes, after a twiddle for each lane
// and a transposition (the four-step method, Bailey 1990).
#include "npb/ft/pencil_fft.hpp"
#include "npb/ft/pencils.hpp"

// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays): hot sources hold no containers
namespace tare::npb::ft::TARE_NPB_SIMD {

namespace {

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

}  // namespace

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

}  // namespace tare::npb::ft::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays)
