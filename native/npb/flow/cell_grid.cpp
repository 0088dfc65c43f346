// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/cell_grid.hpp"

#include <algorithm>

#include "npb/flow/process_grid.hpp"

namespace tare::npb::flow {

namespace {

/// Slab `index` of `slabs`: where they cannot be alike, the first are a place thicker, as the reference's.
Extent slab_of(int edge, int slabs, int index) {
    const int places = edge / slabs;
    const int thicker = edge % slabs;
    return {.edge = edge,
            .first = index * places + std::min(index, thicker),
            .count = places + (index < thicker ? 1 : 0)};
}

}  // namespace

// Cell c of the rank in column i and row j is at (i + c, j - c, c), all modulo the side.

int CellGrid::slab(int cell, Axis axis) const {
    switch (axis) {
        case Axis::x:
            return around(column() + cell);
        case Axis::y:
            return around(row() - cell);
        default:
            return cell;
    }
}

int CellGrid::cell_in(int slab, Axis axis) const {
    switch (axis) {
        case Axis::x:
            return around(slab - column());
        case Axis::y:
            return around(row() - slab);
        default:
            return slab;
    }
}

int CellGrid::neighbour(Axis axis, int steps) const {
    const int columns = axis == Axis::x ? steps : (axis == Axis::z ? -steps : 0);
    const int rows = axis == Axis::x ? 0 : steps;
    return around(row() + rows) * side_ + around(column() + columns);
}

Block CellGrid::block(int cell, int edge) const {
    require_room(edge, side_, side_);
    const auto extent = [&](Axis axis) { return slab_of(edge, side_, slab(cell, axis)); };
    return {.x = extent(Axis::x), .y = extent(Axis::y), .z = extent(Axis::z)};
}

}  // namespace tare::npb::flow
