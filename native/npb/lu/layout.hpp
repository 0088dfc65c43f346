// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "npb/common/arguments.hpp"
#include "npb/common/buffer.hpp"
#include "npb/common/share.hpp"
#include "npb/common/team.hpp"
#include "npb/common/world.hpp"
#include "npb/flow/exact.hpp"

// Which points a rank works on, and where their values lie in memory.
namespace tare::npb::lu {

/// A block along one axis, counted in points inside the boundary, and the ranks that hold the blocks before
/// and after it (MPI_PROC_NULL at the boundary).
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

/// What one rank works on: x and y are shared among ranks, z is whole, so that planes can be passed on one by
/// one. Points of a block are counted from its own first point inside the boundary.
struct Block {
    MPI_Comm communicator = MPI_COMM_WORLD;
    Messages messages = Messages::own;
    /// Points along each edge of the whole cube, boundary included.
    int edge = 0;
    Extent x;
    Extent y;
    Extent z;

    /// The distance of neighbouring points.
    [[nodiscard]] double spacing() const { return 1.0 / (edge - 1); }

    /// The block of a rank; blocks are as square as the number of ranks permits. The points inside the
    /// boundary are shared evenly, along y among more ranks than along x. The reference's messages need its
    /// division: all points are shared, the first ranks have those that are left over, and x is shared among
    /// more ranks than y, at most twice as many. Throws `WrongUse` if a rank would have fewer points than its
    /// neighbours must see, or there is no such division.
    [[nodiscard]] static Block of(const World& world, int edge, Messages messages = Messages::own);
};

/// Layers of a neighbour's points around a block, which the fourth differences need.
constexpr int halo_width = 2;
/// Points of a diagonal are stored in groups of this many: the widest vector.
constexpr std::ptrdiff_t group = 8;
/// Conserved quantities of a point.
constexpr int quantities = 5;

/// A diagonal x + y = const of a plane, as far as it lies inside the block. In the sweeps no point of it
/// needs another one of it, so that they are handled side by side; therefore neighbours along a diagonal (y
/// up, x down) are neighbours in memory.
struct Diagonal {
    int length;
    int first_x;
    int first_y;
    /// How far first_y is beyond that of the diagonal before, and that of the next one beyond this: 0 or 1.
    int shift;
    int next_shift;
    /// From a point of a field to those at x + 1, x - 1, x + 2, x - 2; the same in y are 1, -1, 2, -2
    /// further.
    int east;
    int west;
    int two_east;
    int two_west;
    /// Of its first point in a quantity of a field's plane.
    std::ptrdiff_t offset;
    /// Of its first group in a plane of groups.
    std::ptrdiff_t group_offset;
};

/// Points first .. end - 1 of a row.
struct Points {
    int first;
    int end;
};

/// What hot functions need to know of a layout, and of a plane's diagonals those from `first` to before
/// `end`: all, or the pencil that one thread works on.
struct Mesh {
    /// All of the plane's.
    const Diagonal* diagonals;
    int count;
    int first;
    int end;
    int x_count;
    int y_count;
    /// From a quantity of a field's plane to the next.
    std::ptrdiff_t pitch;

    /// Those points of a row along an edge, of `points` points from diagonal `first_diagonal` on, that lie in
    /// the pencil.
    [[nodiscard]] Points points_of_row(int first_diagonal, int points) const;
};

/// Where the points of a plane lie, in two kinds of arrays.
/// A field has for each quantity all points of the block and two layers around it, diagonal by diagonal; the
/// first point inside of each diagonal is aligned for vectors.
/// A group array has only points inside, diagonal by diagonal in groups of 8: 8 values of the first quantity,
/// 8 of the second, ... The last group of a diagonal may have unused lanes.
class Layout {
  public:
    Layout(int x_count, int y_count);

    /// The whole plane.
    [[nodiscard]] Mesh mesh() const { return pencil(0, static_cast<int>(diagonals_.size())); }
    /// The plane in at most so many pencils, each of at least one diagonal, as even as whole diagonals
    /// permit.
    [[nodiscard]] std::vector<Mesh> pencils(int most) const;

    /// The offset of (x, y) in a quantity of a field's plane; -2 <= x < x_count + 2, and so y.
    [[nodiscard]] std::ptrdiff_t offset(int x, int y) const;
    /// From a quantity of a field's plane to the next.
    [[nodiscard]] std::ptrdiff_t pitch() const { return pitch_; }
    /// The offset of a quantity of (x, y), inside, in a plane of groups.
    [[nodiscard]] std::ptrdiff_t group_offset(int x, int y, int quantity) const;
    /// Numbers in a plane of groups.
    [[nodiscard]] std::ptrdiff_t group_plane() const { return group_plane_; }

  private:
    /// The offset of y = 0 (there or not) of a diagonal in a quantity of a field's plane.
    [[nodiscard]] std::ptrdiff_t origin(int sum) const;
    [[nodiscard]] Mesh pencil(int first, int end) const;
    /// The diagonal that begins nearest to where pencil `index` of `count` would.
    [[nodiscard]] int nearest_start(int index, int count) const;
    void set_origins();
    void list_diagonals();

    int x_count_;
    int y_count_;
    /// From x + y = -4 on.
    std::vector<std::ptrdiff_t> origin_;
    std::vector<Diagonal> diagonals_;
    std::ptrdiff_t pitch_ = 0;
    std::ptrdiff_t group_plane_ = 0;
};

using flow::Point;

/// The conserved quantities at a block's points and two layers around it. What is unused holds 1, so that no
/// lane of a vector divides by zero.
class Field {
  public:
    Field(const Block& block, const Layout& layout);

    /// Quantity by quantity, `Layout::pitch` apart; -2 <= z < count + 2.
    [[nodiscard]] double* plane(int z) { return &values_.span()[plane_offset(z)]; }
    [[nodiscard]] const double* plane(int z) const { return &values_.span()[plane_offset(z)]; }

    [[nodiscard]] Point point(int x, int y, int z) const;

    /// Sets each point of the cube that the block or its layers hold to `value(x, y, z)`, at coordinates from
    /// 0 to 1. The threads share the planes.
    void set(Point (*value)(double x, double y, double z), Team& team);

  private:
    [[nodiscard]] std::size_t plane_offset(int z) const {
        return static_cast<std::size_t>(z + halo_width) * quantities *
               static_cast<std::size_t>(layout_.pitch());
    }

    /// Of the points of the block and its layers, such as lie in the cube.
    [[nodiscard]] Share<int> in_cube(const Extent& extent) const;
    void set_plane(Point (*value)(double x, double y, double z), int z);

    Block block_;
    const Layout& layout_;
    Buffer<double> values_;
};

/// Planes of groups (see `Layout`), zero at first.
class GroupField {
  public:
    GroupField(const Layout& layout, int planes)
        : plane_{static_cast<std::size_t>(layout.group_plane())},
          values_{plane_ * static_cast<std::size_t>(planes)} {}

    [[nodiscard]] std::span<double> plane(int z) {
        return values_.span().subspan(static_cast<std::size_t>(z) * plane_, plane_);
    }

  private:
    std::size_t plane_;
    Buffer<double> values_;
};

/// The start of the iteration: boundary from the exact solution, inside interpolated between it.
[[nodiscard]] Point initial(double x, double y, double z);

}  // namespace tare::npb::lu
