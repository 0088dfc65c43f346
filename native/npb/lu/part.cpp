// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/part.hpp"

#include <algorithm>
#include <string>

#include "npb/common/arguments.hpp"
#include "npb/common/share.hpp"
#include "npb/lu/layout.hpp"

namespace tare::npb::lu {

namespace {

/// The largest divisor that is no more than the root.
int smaller_side(int ranks) {
    int side = 1;
    for (int candidate = 1; candidate * candidate <= ranks; ++candidate) {
        side = ranks % candidate == 0 ? candidate : side;
    }
    return side;
}

/// The points of part `index` of `parts` that lie inside the boundary.
Share<int> points_inside(int edge, int parts, int index, Messages messages) {
    if (messages == Messages::own) {
        const Share<int> share = share_of(edge - 2, parts, index);
        return {.first = 1 + share.first, .count = share.count};
    }
    // The first parts have the points that are left over.
    const auto begin = [&](int part) { return part * (edge / parts) + std::min(part, edge % parts); };
    const int first = std::max(1, begin(index));
    return {.first = first, .count = std::min(edge - 1, begin(index + 1)) - first};
}

/// Part `index` of `parts`; neighbouring parts are `stride` ranks apart.
Extent extent_of(int edge, int parts, int index, const World& world, int stride, Messages messages) {
    const Share<int> points = points_inside(edge, parts, index, messages);
    return {.first = points.first,
            .count = points.count,
            .previous = index > 0 ? world.rank - stride : MPI_PROC_NULL,
            .next = index + 1 < parts ? world.rank + stride : MPI_PROC_NULL};
}

}  // namespace

Part part_of(const World& world, int edge, Messages messages) {
    const int few = smaller_side(world.ranks);
    const int many = world.ranks / few;
    const bool is_own = messages == Messages::own;
    if (!is_own && many > 2 * few) {
        throw WrongUse("the reference's messages need ranks in a grid at most twice as long as wide");
    }
    const int narrowest = is_own ? (edge - 2) / many : edge / many - 1;
    if (many > 1 && narrowest < reach) {
        throw WrongUse(std::to_string(world.ranks) + " ranks are too many: a block would be narrower than " +
                       std::to_string(reach) + " points");
    }
    const int x_parts = is_own ? few : many;
    const int y_parts = is_own ? many : few;
    return {.communicator = world.communicator,
            .messages = messages,
            .edge = edge,
            .x = extent_of(edge, x_parts, world.rank % x_parts, world, 1, messages),
            .y = extent_of(edge, y_parts, world.rank / x_parts, world, x_parts, messages),
            .z = {.first = 1, .count = edge - 2}};
}

}  // namespace tare::npb::lu
