// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "npb/common/world.hpp"
#include "npb/flow/block.hpp"
#include "npb/flow/view.hpp"

namespace tare::npb::flow {

/// The ranks before and after this one along an axis; MPI_PROC_NULL beyond the ends.
struct Neighbours {
    int previous = MPI_PROC_NULL;
    int next = MPI_PROC_NULL;
    /// This rank's place along the axis, and how many there are.
    int index = 0;
    int count = 1;
};

/// Ranks that share the grid: x is whole in each, y and z are split. z neighbours are ranks[y].count apart.
/// Sweeps along x are local; along y and z they pass from rank to rank, batch of lines by batch, so that all
/// ranks work at once.
struct ProcessGrid {
    World world;
    Neighbours y;
    Neighbours z;

    /// `world` has y_count * z_count ranks, or more, of which the last have no part.
    [[nodiscard]] static ProcessGrid of(const World& world, int y_count, int z_count);

    /// This rank's part of a cube with `edge` points along each edge (the boundary among them). Throws as
    /// `require_room` does.
    [[nodiscard]] Block block(int edge) const;
};

/// Throws `WrongUse` if a rank of such a grid would hold less than `least` places of an axis. Asked in
/// all ranks, also in those without a part, so that all of them end alike.
void require_room(int edge, int y_count, int z_count, int least = ghost_layers);

/// The largest number whose square is no more than `ranks`.
[[nodiscard]] int square_side(int ranks);

}  // namespace tare::npb::flow
