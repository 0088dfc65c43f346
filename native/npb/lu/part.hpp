// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "npb/common/arguments.hpp"
#include "npb/common/share.hpp"
#include "npb/common/world.hpp"

namespace tare::npb::lu {

/// A block's part of one axis, counted in points inside the boundary, and the ranks that hold the parts
/// before and after it (MPI_PROC_NULL at the boundary).
struct Extent {
    /// Of the block's point 0, counted from the boundary's 0.
    int first = 1;
    int count = 0;
    int previous = MPI_PROC_NULL;
    int next = MPI_PROC_NULL;

    /// The block's points and, at the cube's ends, the boundary's, counted from the block's point 0.
    [[nodiscard]] Share<int> with_boundary() const {
        const int before = previous == MPI_PROC_NULL ? 1 : 0;
        const int after = next == MPI_PROC_NULL ? 1 : 0;
        return {.first = -before, .count = before + count + after};
    }
};

/// Which way a sweep goes in x, y and z.
enum class Way { growing, falling };

/// What one rank works on: x and y are shared among ranks, z is whole, so that planes can be passed on one by
/// one. Places in a block are counted from its own first point inside the boundary.
struct Part {
    MPI_Comm communicator = MPI_COMM_WORLD;
    Messages messages = Messages::own;
    /// Points along each edge of the whole cube, boundary included.
    int edge = 0;
    Extent x;
    Extent y;
    Extent z;

    /// The distance of neighbouring points.
    [[nodiscard]] double spacing() const { return 1.0 / (edge - 1); }
};

/// The part of each rank, with blocks as square as the number of ranks permits. The points inside the
/// boundary are shared evenly, along y among more ranks than along x. The reference's messages need its
/// division: all points are shared, the first ranks have those that are left over, and x is shared among more
/// ranks than y, at most twice as many. Throws `WrongUse` if a rank would have fewer points than its
/// neighbours must see, or there is no such division.
[[nodiscard]] Part part_of(const World& world, int edge, Messages messages = Messages::own);

}  // namespace tare::npb::lu
