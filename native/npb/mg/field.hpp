// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>

#include "npb/common/buffer.hpp"
#include "npb/common/team.hpp"
#include "npb/mg/rows.hpp"

namespace tare::npb::mg {

/// The length of a row that holds at least one period of `edge` values.
[[nodiscard]] constexpr int row_length(int edge) { return edge < shortest_row ? shortest_row : edge; }

/// Planes of a periodic grid with 2^n rows each. A view: its maker owns the memory.
struct Grid {
    /// Plane 0, row 0.
    double* origin = nullptr;
    int edge = 0;
    /// Values from a row to the next.
    int length = 0;
    /// Values from a plane to the next.
    std::ptrdiff_t stride = 0;

    /// `row` counts from any period: row -1 is the last.
    [[nodiscard]] double* row(int plane, int row) const {
        return std::next(origin, plane * stride + static_cast<std::ptrdiff_t>(row & (edge - 1)) * length);
    }
    /// The same grid, its planes counted from `plane` on.
    [[nodiscard]] Grid from(int plane) const {
        return {
            .origin = std::next(origin, plane * stride), .edge = edge, .length = length, .stride = stride};
    }
};

/// The rows around one, from a grid or from whatever else has `row(plane, row)`.
template <typename Planes>
[[nodiscard]] NineRows rows_around(Planes& planes, int plane, int row) {
    return {{planes.row(plane - 1, row - 1), planes.row(plane - 1, row), planes.row(plane - 1, row + 1),
             planes.row(plane, row - 1), planes.row(plane, row), planes.row(plane, row + 1),
             planes.row(plane + 1, row - 1), planes.row(plane + 1, row), planes.row(plane + 1, row + 1)}};
}

/// How many planes of the neighbours a rank keeps a copy of, before its first plane and after its last.
struct Depth {
    int below = 0;
    int above = 0;
};

/// A rank's planes of a grid, with copies of its neighbours' planes around them.
class Field {
  public:
    Field(int edge, int planes, Depth depth);

    [[nodiscard]] Grid grid() { return grid_; }
    [[nodiscard]] int planes() const { return planes_; }
    [[nodiscard]] Depth depth() const { return depth_; }
    /// Values of one plane, which lie together.
    [[nodiscard]] std::size_t plane_size() const { return static_cast<std::size_t>(grid_.stride); }
    /// With the copies. The first time, memory comes to lie near the threads that share the work.
    void set_zero(Team& team);

  private:
    int planes_;
    Depth depth_;
    Buffer<double> values_;
    Grid grid_;
};

}  // namespace tare::npb::mg
