// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/part.hpp"

#include <string>

#include "npb/common/arguments.hpp"
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

/// Share `index` of `parts`, as even as they can be; neighbouring shares are `stride` ranks apart.
Share share_of(int points, int parts, int index, const World& world, int stride) {
    const int start = points * index / parts;
    return {.first = 1 + start,
            .count = points * (index + 1) / parts - start,
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
            .x = share_of(inside, x_parts, world.rank % x_parts, world, 1),
            .y = share_of(inside, y_parts, world.rank / x_parts, world, x_parts),
            .z = {.first = 1, .count = inside}};
}

}  // namespace tare::npb::lu
