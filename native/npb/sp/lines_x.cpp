// SPDX-License-Identifier: Apache-2.0
// The sweep along x of whole rows, and what that along y needs.
#include "npb/sp/turned.hpp"

// Vectors need plain pointers and arrays, which are set before they are read; places of lines are small
// numbers.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result,*-magic-numbers)
namespace tare::npb::sp::TARE_NPB_SIMD {

void solve_x(const Scheme& scheme, View<const double> u, const flow::Rows& rows, View<double> field,
             View<double> links, double* scratch) {
    for (int y = rows.y_begin; y < rows.y_end; y += lanes) {
        const int y_end = y + lanes < rows.y_end ? y + lanes : rows.y_end;
        const flow::Rows together{.z = rows.z, .y_begin = y, .y_end = y_end};
        prepare_lines(scheme, u, together, field, links, 0, scheme.block.x.count, scratch);
        Row<Vector> second_last{};
        Row<Vector> last{};
        eliminate_lines(scheme, scratch, second_last, last);
        After after{};
        substitute_lines(scheme, scratch, field, together, after);
    }
}

void link_y(const Scheme& scheme, View<const double> u, int z, int y, View<double> links) {
    double* const link = links.at(0, y);
    for (int x = 0; x < scheme.block.x.count; x += lanes) {
        const Conserved here = conserved(u.at(z, y) + x, u.component);
        const Vector volume = 1.0 / here.density;
        store(link + x, scheme.convection * here.momentum_y * volume);
        store(link + links.component + x, scheme.convection * root(sound_factor * here.heat) * volume);
        store(link + 2 * links.component + x, scheme.spread_xy + scheme.conduction * volume);
    }
}

}  // namespace tare::npb::sp::TARE_NPB_SIMD
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result,*-magic-numbers)
// NOLINTEND(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
