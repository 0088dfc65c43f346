// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace tare::npb::lu {

/// Layers of points around a block that it sees: the fourth differences reach two places.
constexpr int reach = 2;
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
    std::ptrdiff_t place;
    /// Of its first group in a plane of groups.
    std::ptrdiff_t group_place;
};

/// Points first .. end - 1 of a row.
struct Points {
    int first;
    int end;
};

/// What hot functions need to know of a layout, and of a plane's diagonals those from `first` to before
/// `end`: all, or the strip that one thread works on.
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
    /// the strip.
    [[nodiscard]] Points points_of_row(int first_diagonal, int points) const;
};

/// Where the points of a plane lie, in two kinds of arrays.
/// A field has for each quantity all points of the block and two layers around it, diagonal by diagonal; the
/// first point inside of each diagonal is aligned for vectors.
/// A group array has only points inside, diagonal by diagonal in groups of 8: 8 values of the first quantity,
/// 8 of the second, ... The last group of a diagonal may have unused places.
class Layout {
  public:
    Layout(int x_count, int y_count);

    /// The whole plane.
    [[nodiscard]] Mesh mesh() const { return strip(0, static_cast<int>(diagonals_.size())); }
    /// The plane in at most so many strips, each of at least one diagonal, as even as whole diagonals permit.
    [[nodiscard]] std::vector<Mesh> strips(int most) const;
    [[nodiscard]] int x_count() const { return x_count_; }
    [[nodiscard]] int y_count() const { return y_count_; }

    /// The place of (x, y) in a quantity of a field's plane; -2 <= x < x_count + 2, and so y.
    [[nodiscard]] std::ptrdiff_t place(int x, int y) const;
    /// From a quantity of a field's plane to the next.
    [[nodiscard]] std::ptrdiff_t pitch() const { return pitch_; }
    /// The place of a quantity of (x, y), inside, in a plane of groups.
    [[nodiscard]] std::ptrdiff_t group_place(int x, int y, int quantity) const;
    /// Numbers in a plane of groups.
    [[nodiscard]] std::ptrdiff_t group_plane() const { return group_plane_; }

  private:
    /// The place of y = 0 (there or not) of a diagonal in a quantity of a field's plane.
    [[nodiscard]] std::ptrdiff_t origin(int sum) const;
    [[nodiscard]] Mesh strip(int first, int end) const;
    /// The diagonal that begins nearest to where strip `index` of `count` would.
    [[nodiscard]] int nearest_start(int index, int count) const;
    void place_rows();
    void list_diagonals();

    int x_count_;
    int y_count_;
    /// From x + y = -4 on.
    std::vector<std::ptrdiff_t> origin_;
    std::vector<Diagonal> diagonals_;
    std::ptrdiff_t pitch_ = 0;
    std::ptrdiff_t group_plane_ = 0;
};

}  // namespace tare::npb::lu
