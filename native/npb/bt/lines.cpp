// SPDX-License-Identifier: Apache-2.0
// The block-tridiagonal systems of BT (RNR-94-007 section 3.4), as many lines at once as a vector has lanes.
// Jacobians are formed as elimination comes to their point, and forgotten.
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

void eliminate_y(const Bundle& bundle, double* state) {
    eliminate_lines<1>(bundle, flow::dissipation_y, state);
}

void eliminate_z(const Bundle& bundle, double* state) {
    eliminate_lines<2>(bundle, flow::dissipation_z, state);
}

void solve_x(const flow::Block& block, double time_step, flow::View<const double> u, flow::View<double> right,
             const flow::Rows& rows, double* scratch) {
    const Factors factors = factors_of(block.x, flow::dissipation_x, time_step);
    const int width = whole_rows(block.x);
    double* const u_lanes = scratch;
    double* const right_lanes = u_lanes + width * step;
    const Bundle bundle{.u = u_lanes,
                        .right = right_lanes,
                        .component = lanes,
                        .u_step = step,
                        .right_step = step,
                        .extent = block.x,
                        .time_step = time_step,
                        .kept = right_lanes + width * step};
    for (int first = rows.y_begin; first < rows.y_end; first += lanes) {
        const int used = rows.y_end - first < lanes ? rows.y_end - first : lanes;
        int y[lanes];
        set_rows(first, used, y);
        gather(u, rows.z, y, 0, width, u_lanes);
        gather(right, rows.z, y, 0, width, right_lanes);
        alignas(Vector) double nothing[kept * lanes] = {};
        eliminate<0>(bundle, factors, {nothing});
        alignas(Vector) double state[size * lanes] = {};
        substitute<Solution::replaces>(bundle, state);
        scatter(right_lanes, width, right, rows.z, first, used);
    }
}

}  // namespace

Functions functions() {
    return {.lanes = lanes,
            .solve_x = solve_x,
            .eliminate_y = eliminate_y,
            .eliminate_z = eliminate_z,
            .substitute = substitute<Solution::replaces>,
            .substitute_and_add = substitute<Solution::is_added>,
            .eliminate_x = eliminate_x,
            .substitute_x = substitute_x};
}

}  // namespace tare::npb::bt::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)
// NOLINTEND(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init)
