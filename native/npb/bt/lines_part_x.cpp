// SPDX-License-Identifier: Apache-2.0
// The systems of BT along x where a rank holds a part of the rows, in their two ways: otherwise as in
// lines.cpp.
#ifndef __clang__
// A place's elimination is one long block of independent chains: in the order of the source each waits for
// itself. GCC schedules before it allocates registers only if asked to.
#pragma GCC optimize("schedule-insns", "sched-pressure")
#endif
#include "npb/bt/systems.hpp"

// Vectors need plain pointers and arrays, and are set element by element.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init)
// NOLINTBEGIN(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)
namespace tare::npb::bt::TARE_NPB_SIMD {

namespace {

/// Part of the lines along x: in lanes, u with a vector of places more before and behind it.
Bundle part_x(const LinesX& lines) {
    const int width = whole_rows(lines.block.x);
    double* const u_lanes = lines.scratch + lanes * step;
    return {.u = u_lanes,
            .right = u_lanes + (width + lanes) * step,
            .component = lanes,
            .u_step = step,
            .right_step = step,
            .extent = lines.block.x,
            .time_step = lines.time_step,
            .kept = lines.kept};
}

}  // namespace

void eliminate_x(const LinesX& lines, double* state) {
    const Bundle bundle = part_x(lines);
    const int width = whole_rows(lines.block.x);
    int y[lanes];
    set_rows(lines.rows.y_begin, lines.rows.y_end - lines.rows.y_begin, y);
    gather(lines.u, lines.rows.z, y, -lanes, width + lanes, bundle.u);
    gather(lines.right, lines.rows.z, y, 0, width, bundle.right);
    eliminate_lines<0>(bundle, flow::dissipation_x, state);
}

void substitute_x(const LinesX& lines, double* state) {
    const Bundle bundle = part_x(lines);
    const int width = whole_rows(lines.block.x);
    const auto& [z, y_begin, y_end] = lines.rows;
    for (int place = 0; place < width; ++place) {  // those on the boundary and beyond the part stay zero
        for (std::ptrdiff_t row = 0; row < size; ++row) {
            store(bundle.right + place * step + row * lanes, Vector{});
        }
    }
    substitute<Solution::replaces>(bundle, state);
    scatter(bundle.right, width, lines.right, z, y_begin, y_end - y_begin);
}

}  // namespace tare::npb::bt::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)
// NOLINTEND(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init)
