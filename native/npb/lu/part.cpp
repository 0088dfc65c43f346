// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/part.hpp"

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

/// Part `index` of `parts`; neighbouring parts are `stride` ranks apart.
Extent extent_of(int points, int parts, int index, const World& world, int stride) {
    const Share<int> share = share_of(points, parts, index);
    return {.first = 1 + share.first,
            .count = share.count,
            .previous = index > 0 ? world.rank - stride : MPI_PROC_NULL,
            .next = index + 1 < parts ? world.rank + stride : MPI_PROC_NULL};
}

}  // namespace

Part part_of(const World& world, int edge) {
    const int inside = edge - 2;
    const int x_parts = smaller_side(world.ranks);
    const int y_parts = world.ranks / x_parts;
    if (y_parts > 1 && inside / y_parts < reach) {
        throw WrongUse(std::to_string(world.ranks) + " ranks are too many: a block would be narrower than " +
                       std::to_string(reach) + " points");
    }
    return {.communicator = world.communicator,
            .edge = edge,
            .x = extent_of(inside, x_parts, world.rank % x_parts, world, 1),
            .y = extent_of(inside, y_parts, world.rank / x_parts, world, x_parts),
            .z = {.first = 1, .count = inside}};
}

}  // namespace tare::npb::lu
