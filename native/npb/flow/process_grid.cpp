// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/process_grid.hpp"

#include <string>

#include "npb/common/arguments.hpp"

namespace tare::npb::flow {

namespace {

/// `apart`: ranks from one place of the axis to the next.
Neighbours neighbours(int rank, int index, int count, int apart) {
    return {.previous = index > 0 ? rank - apart : MPI_PROC_NULL,
            .next = index < count - 1 ? rank + apart : MPI_PROC_NULL,
            .index = index,
            .count = count};
}

}  // namespace

ProcessGrid ProcessGrid::of(const World& world, int y_count, int z_count) {
    return {.world = world,
            .y = neighbours(world.rank, world.rank % y_count, y_count, 1),
            .z = neighbours(world.rank, world.rank / y_count, z_count, y_count)};
}

void require_room(int edge, int y_count, int z_count, int least) {
    if (edge / y_count < least || edge / z_count < least) {
        throw WrongUse("too many ranks for this grid: each needs at least " + std::to_string(least) +
                       " of its " + std::to_string(edge) + " places along y and z");
    }
}

Block ProcessGrid::block(int edge) const {
    require_room(edge, y.count, z.count);
    return {.x = Extent::part(edge, 1, 0),
            .y = Extent::part(edge, y.count, y.index),
            .z = Extent::part(edge, z.count, z.index)};
}

int square_side(int ranks) {
    int side = 1;
    while ((side + 1) * (side + 1) <= ranks) {
        ++side;
    }
    return side;
}

}  // namespace tare::npb::flow
