// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

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
};

/// Which way a sweep goes in x, y and z.
enum class Way { growing, falling };

/// What one rank works on: x and y are shared among ranks, z is whole, so that planes can be passed on one by
/// one. Places in a block are counted from its own first point inside the boundary.
struct Part {
    MPI_Comm communicator = MPI_COMM_WORLD;
    /// Points along each edge of the whole cube, boundary included.
    int edge = 0;
    Extent x;
    Extent y;
    Extent z;

    /// The distance of neighbouring points.
    [[nodiscard]] double spacing() const { return 1.0 / (edge - 1); }
};

/// The part of each rank, with blocks as square as the number of ranks permits. Throws `WrongUse` if a rank
/// would have fewer points than its neighbours must see.
[[nodiscard]] Part part_of(const World& world, int edge);

}  // namespace tare::npb::lu
