// SPDX-License-Identifier: Apache-2.0
// The sweep along y of one z plane.
#include "npb/sp/lines.hpp"

// Vectors need plain pointers and arrays, which are set before they are read; places of lines are small
// numbers.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result,*-magic-numbers)
namespace tare::npb::sp::TARE_NPB_SIMD {

namespace {

using flow::View;

[[gnu::always_inline]] inline Link<Vector> load_link(const View<const double>& links, int y, int x) {
    const double* const cell = links.at(0, y) + x;
    return {load(cell), load(cell + links.component), load(cell + 2 * links.component)};
}

}  // namespace

void forward_y(const Scheme& scheme, View<const double> links, int z, int x, View<double> field,
               double* state, double* kept) {
    const int begin = scheme.block.y.begin();
    const int end = scheme.block.y.end();
    Row<Vector> second_last = load_row(state);
    Row<Vector> last = load_row(state + row_numbers * lanes);
    Link<Vector> before = load_link(links, begin - 1, x);
    Link<Vector> here = load_link(links, begin, x);
    for (int y = begin; y < end; ++y) {
        const Link<Vector> after = load_link(links, y + 1, x);
        double* const cell = field.at(z, y) + x;
        Row<Vector> row;
        Five<Vector> values = load_five(cell, field.component);
#pragma GCC unroll 5
        for (int wave = 0; wave < waves; ++wave) {
            row.value[wave] = values.at[wave];
        }
        eliminate(second_last, last, before, here, after, scheme.weight_y[y].weight, row);
#pragma GCC unroll 5
        for (int wave = 0; wave < waves; ++wave) {
            values.at[wave] = row.value[wave];
        }
        store_five(cell, field.component, values);
        store_multipliers(kept + y * kept_y * lanes, row);
        second_last = last;
        last = row;
        before = here;
        here = after;
    }
    store_row(state, second_last);
    store_row(state + row_numbers * lanes, last);
}

void backward_y(const Scheme& scheme, int z, int x, View<double> field, double* state, const double* kept) {
    After after = After::of(state);
    for (int y = scheme.block.y.end() - 1; y >= scheme.block.y.begin(); --y) {
        double* const cell = field.at(z, y) + x;
        Row<Vector> row;
        load_multipliers(kept + y * kept_y * lanes, row);
        const Five<Vector> values = load_five(cell, field.component);
#pragma GCC unroll 5
        for (int wave = 0; wave < waves; ++wave) {
            row.value[wave] = values.at[wave];
        }
        store_five(cell, field.component, y_to_z(after.step(row)));
    }
    after.save(state);
}

}  // namespace tare::npb::sp::TARE_NPB_SIMD
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result,*-magic-numbers)
// NOLINTEND(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
