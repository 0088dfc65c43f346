// SPDX-License-Identifier: Apache-2.0
// The two ways along x where a rank holds a part of the rows.
#include "npb/sp/turned.hpp"

// Vectors need plain pointers and arrays, which are set before they are read; places of lines are small
// numbers.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result,*-magic-numbers)
namespace tare::npb::sp::TARE_NPB_SIMD {

void forward_x(const Scheme& scheme, View<const double> u, const flow::Rows& rows, View<double> field,
               View<double> links, double* state, double* kept) {
    double* const cells = kept + lanes * row_numbers * lanes;
    prepare_lines(scheme, u, rows, field, links, -lanes, scheme.block.x.count + 1, cells);
    Row<Vector> second_last = load_row(state);
    Row<Vector> last = load_row(state + row_numbers * lanes);
    eliminate_lines(scheme, cells, second_last, last);
    store_row(state, second_last);
    store_row(state + row_numbers * lanes, last);
}

void backward_x(const Scheme& scheme, const flow::Rows& rows, View<double> field, double* state,
                double* kept) {
    After after = After::of(state);
    substitute_lines(scheme, kept + lanes * row_numbers * lanes, field, rows, after);
    after.save(state);
}

}  // namespace tare::npb::sp::TARE_NPB_SIMD
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result,*-magic-numbers)
// NOLINTEND(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
