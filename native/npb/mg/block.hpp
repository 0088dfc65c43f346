// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "npb/common/share.hpp"
#include "npb/common/world.hpp"

namespace tare::npb::mg {

/// The axes in the order in which messages fill a block's ghosts.
enum Axis : std::size_t { x_axis, y_axis, z_axis };
constexpr std::array axes{x_axis, y_axis, z_axis};

/// The cube of ranks that cuts every grid into blocks: a power of two along each axis, as near to each other
/// as they can be, z before y before x. Ranks are counted along x first, in each axis from its end: the ranks
/// that have no points of a coarse grid are then the reference's, whose coarse points lie on odd places (here
/// on even ones).
class Cut {
  public:
    /// `active` has as many ranks as `ranks_of` gives.
    explicit Cut(const World& active);

    /// How many of `ranks` a grid of this edge can use: a power of two, and no axis with more ranks than
    /// points.
    [[nodiscard]] static int ranks_of(int edge, int ranks);

    [[nodiscard]] int ranks(Axis axis) const { return ranks_.at(axis); }
    /// This rank's place along the axis.
    [[nodiscard]] int place(Axis axis) const { return place_.at(axis); }
    /// The rank so many places further along the axis; the cube is periodic.
    [[nodiscard]] int neighbour(Axis axis, int distance) const;

  private:
    std::array<int, axes.size()> ranks_{};
    std::array<int, axes.size()> place_{};
};

/// What of a grid a rank has along one axis. On a grid with fewer points than ranks some ranks have none:
/// every second rank, of each four three, and so on.
struct Span {
    Share<int> points{};
    /// Places to the next rank that has points.
    int stride = 1;
};

/// A rank's block of one grid.
class Block {
  public:
    Block(const Cut& cut, int edge);

    [[nodiscard]] int edge() const { return edge_; }
    [[nodiscard]] const Span& span(Axis axis) const { return spans_.at(axis); }
    [[nodiscard]] int count(Axis axis) const { return span(axis).points.count; }
    [[nodiscard]] bool is_empty() const;

  private:
    int edge_;
    std::array<Span, axes.size()> spans_{};
};

}  // namespace tare::npb::mg
