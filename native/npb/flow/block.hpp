// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/share.hpp"

namespace tare::npb::flow {

enum class Axis { x, y, z };

/// A rank's part of one axis: the places first .. first + count - 1 of 0 .. edge - 1. Everywhere else places
/// are counted from the part's own first one.
struct Extent {
    int edge = 0;
    int first = 0;
    int count = 0;

    /// Part `index` of `parts`, as even as they can be.
    [[nodiscard]] static constexpr Extent part(int edge, int parts, int index) {
        const Share<int> share = share_of(edge, parts, index);
        return {.edge = edge, .first = share.first, .count = share.count};
    }

    // The two end places of the whole axis are boundary: given, never solved for.
    /// The first place of the part that is not boundary.
    [[nodiscard, gnu::always_inline]] constexpr int begin() const { return first == 0 ? 1 : 0; }
    /// One beyond the last place of the part that is not boundary.
    [[nodiscard, gnu::always_inline]] constexpr int end() const {
        return first + count == edge ? count - 1 : count;
    }
    /// The coordinate of a place, 0 to 1 along the whole axis.
    [[nodiscard, gnu::always_inline]] constexpr double coordinate(int place) const {
        return static_cast<double>(first + place) / (edge - 1);
    }
};

/// A rank's part of the grid.
struct Block {
    Extent x;
    Extent y;
    Extent z;

    /// Whether others hold parts of the rows along x.
    [[nodiscard]] constexpr bool is_split_x() const { return x.count < x.edge; }
};

}  // namespace tare::npb::flow
