// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>

#include "npb/common/buffer.hpp"
#include "npb/common/team.hpp"
#include "npb/mg/layout.hpp"
#include "npb/mg/operators.hpp"

namespace tare::npb::mg {

/// The length of a row that holds at least one period of `edge` values.
[[nodiscard]] constexpr int row_length(int edge) { return edge < shortest_row ? shortest_row : edge; }

/// A rank's planes of a grid, and rows in each. A view: its maker owns the memory.
struct Grid {
    /// The first point of plane 0, row 0.
    double* origin = nullptr;
    /// Points of a row: of a period at least, or of a block.
    int points = 0;
    /// Which bits of a row's number count: all, or where rows are periodic those below the edge.
    int row_mask = -1;
    /// Values from a row to the next, and from a plane to the next.
    std::ptrdiff_t row_stride = 0;
    std::ptrdiff_t plane_stride = 0;

    /// A periodic `row` counts from any period: row -1 is the last. Else row -1 is the halo's.
    [[nodiscard]] double* row(int plane, int row) const {
        return std::next(origin,
                         plane * plane_stride + static_cast<std::ptrdiff_t>(row & row_mask) * row_stride);
    }
    /// The same grid, its planes counted from `plane` on.
    [[nodiscard]] Grid from(int plane) const {
        Grid moved = *this;
        moved.origin = std::next(origin, plane * plane_stride);
        return moved;
    }
};

/// The rows around one, from a grid or from whatever else has `row(plane, row)`.
template <typename Planes>
[[nodiscard]] NineRows rows_around(Planes& planes, int plane, int row) {
    return {{planes.row(plane - 1, row - 1), planes.row(plane - 1, row), planes.row(plane - 1, row + 1),
             planes.row(plane, row - 1), planes.row(plane, row), planes.row(plane, row + 1),
             planes.row(plane + 1, row - 1), planes.row(plane + 1, row), planes.row(plane + 1, row + 1)}};
}

/// The coarse rows around a row of the next finer grid: coarse row j lies on row 2j, and so do planes.
[[nodiscard]] inline FourRows coarse_rows_around(const Grid& coarse, int plane, int row) {
    const int below = plane >> 1;
    const int above = (plane + 1) >> 1;
    const int before = row >> 1;
    const int after = (row + 1) >> 1;
    return {{coarse.row(below, before), coarse.row(below, after), coarse.row(above, before),
             coarse.row(above, after)}};
}

/// Copies of the neighbours' points around a rank's own.
struct Halo {
    /// Planes before the first and after the last.
    int below = 0;
    int above = 0;
    /// Rows and points of a row, before the first and after the last; without them rows are periodic by
    /// index.
    int beside = 0;
};

/// A rank's points of a grid with a halo around them.
class Field {
  public:
    /// Without `halo.beside` the block has whole planes.
    Field(const Block& block, const Halo& halo);

    [[nodiscard]] Grid grid() { return grid_; }
    [[nodiscard]] const Block& block() const { return block_; }
    [[nodiscard]] const Halo& halo() const { return halo_; }
    [[nodiscard]] int planes() const { return block_.count(z_axis); }
    [[nodiscard]] int rows() const { return block_.count(y_axis); }
    /// Values of one plane with its halo, which lie together.
    [[nodiscard]] int plane_size() const { return static_cast<int>(grid_.plane_stride); }
    /// With the halo. The first time, memory comes to lie near the threads that share the rows.
    void set_zero(Team& team);

  private:
    Block block_;
    Halo halo_;
    Grid grid_;
    Buffer<double> values_;
};

/// Calls `work(plane, row)` for each; threads share the rows.
template <typename Work>
void each_row(Team& team, const Share<int>& planes, const Share<int>& rows, const Work& work) {
    team.run([&](int thread) {
        const Share<int> part = team.part(thread, rows.count);
        for (int plane = planes.first; plane < planes.end(); ++plane) {
            for (int row = part.first; row < part.end(); ++row) {
                work(plane, rows.first + row);
            }
        }
    });
}

}  // namespace tare::npb::mg
