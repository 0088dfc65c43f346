// SPDX-License-Identifier: Apache-2.0
// Transforms over the rows of a bundle and along z: the lanes are neighbours in x, so that they need no
// shuffles.
#include "npb/ft/engine.hpp"
#include "npb/ft/variants.hpp"

// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays): hot sources hold no containers
namespace tare::npb::ft::TARE_NPB_SIMD {

namespace {

constexpr int radix = bundle_rows;

/// The rows of one plane in the work memory, where each row has all of its planes together.
[[gnu::always_inline]] inline Strided work_of(const Bundle& bundle, Index plane) {
    const Index plane_doubles = work_element_doubles(bundle.blocks);
    return {bundle.work + plane * plane_doubles, (bundle.line->length + 1) * plane_doubles};
}

[[gnu::always_inline]] inline Strided rows_of(const Bundle& bundle, Index plane, Direction direction) {
    return {bundle.from.element[plane] + bundle.from.start_doubles, bundle.from_row_doubles,
            parts_for(direction)};
}

template <typename To>
[[gnu::always_inline]] inline void transform_lines(const Bundle& bundle, const To& first, Ahead& ahead) {
    To to = first;
    for (Index row = 0; row < bundle_rows; ++row) {
        double* const here = work_of(bundle, 0).at(row);
        transform(*bundle.line, Strided{here, work_element_doubles(bundle.blocks)}, to, bundle.blocks, here,
                  ahead);
        to.shift += bundle.to_row_doubles;
    }
}

void transform_all_lines(const Bundle& bundle, Direction direction, Ahead& ahead) {
    const Table to = table_of(bundle.to, 0, block_doubles, direction);
    if (bundle.is_streamed) {
        transform_lines(bundle, Streamed{to}, ahead);
    } else {
        transform_lines(bundle, to, ahead);
    }
    finish_streams();
}

}  // namespace

void transform_bundle(const Bundle& bundle) {
    Ahead ahead = bundle.ahead;
    for (Index plane = 0; plane < bundle.line->length; ++plane) {
        const Turned from{rows_of(bundle, plane, Direction::forward), bundle.row_twiddle};
        combine<radix, false>(from, {0, 1}, work_of(bundle, plane), {0, 1}, nullptr, bundle.blocks, ahead);
    }
    transform_all_lines(bundle, Direction::forward, ahead);
}

void transform_bundle_inverse(const Bundle& bundle, const Factors& factors) {
    Ahead ahead = bundle.ahead;
    for (Index plane = 0; plane < bundle.line->length; ++plane) {
        const Evolved from{rows_of(bundle, plane, Direction::inverse), factors.row, factors.along[plane],
                           factors.across};
        // The first row is not turned.
        combine<radix, true>(from, {0, 1}, work_of(bundle, plane), {0, 1}, bundle.row_twiddle + 2,
                             bundle.blocks, ahead);
    }
    transform_all_lines(bundle, Direction::inverse, ahead);
}

}  // namespace tare::npb::ft::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays)
