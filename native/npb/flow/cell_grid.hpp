// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "npb/common/world.hpp"
#include "npb/flow/block.hpp"

namespace tare::npb::flow {

inline constexpr std::array axes{Axis::x, Axis::y, Axis::z};

/// Multi-partition (NAS-95-020): the cube is cut into side^3 cells for side^2 ranks, of which each has one
/// cell in every slab of every axis. A sweep goes from slab to slab along its axis, and all ranks have work
/// in each. Behind all cells of a rank lie the cells of one other rank, in each of the six directions.
class CellGrid {
  public:
    /// `world` has side * side ranks.
    CellGrid(const World& world, int side) : world_{world}, side_{side} {}

    [[nodiscard]] const World& world() const { return world_; }
    /// Cells of a rank, and slabs of an axis.
    [[nodiscard]] int side() const { return side_; }

    /// In which slab of an axis a cell is.
    [[nodiscard]] int slab(int cell, Axis axis) const;
    /// This rank's cell in a slab.
    [[nodiscard]] int cell_in(int slab, Axis axis) const;
    /// Whose cells come after this rank's along an axis, and before.
    [[nodiscard]] int next(Axis axis) const { return neighbour(axis, 1); }
    [[nodiscard]] int previous(Axis axis) const { return neighbour(axis, -1); }

    /// A cell of a cube with `edge` points along each edge. Throws as `require_room` does.
    [[nodiscard]] Block block(int cell, int edge) const;

  private:
    [[nodiscard]] int column() const { return world_.rank % side_; }
    [[nodiscard]] int row() const { return world_.rank / side_; }
    [[nodiscard]] int around(int place) const { return (place % side_ + side_) % side_; }
    [[nodiscard]] int neighbour(Axis axis, int steps) const;

    World world_;
    int side_;
};

}  // namespace tare::npb::flow
