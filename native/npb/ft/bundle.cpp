// SPDX-License-Identifier: Apache-2.0
// Transforms over the rows of a bundle and along z: the lanes are neighbours in x, so that they need no
// shuffles.
#include "npb/ft/engine.hpp"
#include "npb/ft/variants.hpp"

// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays): hot sources hold no containers
namespace tare::npb::ft::TARE_NPB_SIMD {

namespace {

constexpr int radix = bundle_rows;

/// Blocks side by side that go through all rows and planes together.
struct Group {
    Index number;
    Index lines;
};

/// The rows of one plane in the work memory, where each row has all of its planes together.
[[gnu::always_inline]] inline Strided work_of(const Bundle& bundle, const Group& group, Index plane) {
    return {bundle.work + plane * group.lines * block_doubles,
            bundle.line->length * group.lines * block_doubles};
}

[[gnu::always_inline]] inline Strided rows_of(const Bundle& bundle, const Group& group, Index plane,
                                              Direction direction) {
    return {bundle.from.element[plane] + bundle.from.start_doubles + group.number * bundle.from.next_doubles,
            bundle.from_row_doubles, parts_for(direction)};
}

template <typename To>
[[gnu::always_inline]] inline void transform_lines(const Bundle& bundle, const Group& group, const To& first,
                                                   Ahead& ahead) {
    To to = first;
    for (Index row = 0; row < bundle_rows; ++row) {
        double* const here = work_of(bundle, group, 0).at(row);
        transform(*bundle.line, Strided{here, group.lines * block_doubles}, to, group.lines, here, ahead);
        to.shift += bundle.to_row_doubles;
    }
}

void transform_all_lines(const Bundle& bundle, const Group& group, Direction direction, Ahead& ahead) {
    const Table to = table_of(bundle.to, group.number * bundle.to.next_doubles, block_doubles, direction);
    if (bundle.is_streamed) {
        transform_lines(bundle, group, Streamed{to}, ahead);
    } else {
        transform_lines(bundle, group, to, ahead);
    }
}

/// The next group: what is to be read while this one is transformed.
Ahead ahead_of(const Bundle& bundle, const Group& group) {
    const bool is_last = (group.number + 1) * bundle.group_blocks >= bundle.blocks;
    return {.element = bundle.from.element,
            .elements = bundle.line->length,
            .start_doubles = bundle.from.start_doubles + (group.number + 1) * bundle.from.next_doubles,
            .piece_doubles = group.lines * block_doubles,
            .next_piece_doubles = bundle.from_row_doubles,
            .pieces = is_last && !bundle.is_followed ? 0 : bundle_rows,
            .pace = 2};
}

template <typename Work>
[[gnu::always_inline]] inline void for_each_group(const Bundle& bundle, Work work) {
    for (Index block = 0; block < bundle.blocks; block += bundle.group_blocks) {
        const Group group{block / bundle.group_blocks, smaller(bundle.group_blocks, bundle.blocks - block)};
        Ahead ahead = ahead_of(bundle, group);
        work(group, ahead);
    }
    finish_streams();
}

}  // namespace

void transform_bundle(const Bundle& bundle) {
    for_each_group(bundle, [&](const Group& group, Ahead& ahead) {
        for (Index plane = 0; plane < bundle.line->length; ++plane) {
            const Turned from{rows_of(bundle, group, plane, Direction::forward), bundle.row_twiddle};
            combine<radix, false>(from, {0, 1}, work_of(bundle, group, plane), {0, 1}, nullptr, group.lines,
                                  ahead);
        }
        transform_all_lines(bundle, group, Direction::forward, ahead);
    });
}

void transform_bundle_inverse(const Bundle& bundle, const Factors& factors) {
    for_each_group(bundle, [&](const Group& group, Ahead& ahead) {
        const double* const across = factors.across + group.number * bundle.group_blocks * block_points;
        for (Index plane = 0; plane < bundle.line->length; ++plane) {
            const Evolved from{rows_of(bundle, group, plane, Direction::inverse), factors.row,
                               factors.along[plane], across};
            // The first row is not turned.
            combine<radix, true>(from, {0, 1}, work_of(bundle, group, plane), {0, 1}, bundle.row_twiddle + 2,
                                 group.lines, ahead);
        }
        transform_all_lines(bundle, group, Direction::inverse, ahead);
    });
}

}  // namespace tare::npb::ft::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays)
