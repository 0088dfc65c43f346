// SPDX-License-Identifier: Apache-2.0
// Which rank has which points of each grid.
#pragma once

#include <array>
#include <cstddef>

#include "npb/common/share.hpp"
#include "npb/common/world.hpp"

namespace tare::npb::mg {

/// The axes in the order in which messages fill a block's halo.
enum Axis : std::size_t { x_axis, y_axis, z_axis };
constexpr std::array axes{x_axis, y_axis, z_axis};

/// What of a grid a rank has along one axis. On a grid with fewer points than ranks some ranks have none:
/// every second rank, of each four three, and so on.
struct Span {
    Share<int> points{};
    /// Places to the next rank that has points.
    int stride = 1;
};

/// A rank's block of one grid.
struct Block {
    /// The grid has edge^3 points.
    int edge = 0;
    std::array<Span, axes.size()> spans{};

    [[nodiscard]] const Share<int>& points(Axis axis) const { return spans.at(axis).points; }
    [[nodiscard]] int count(Axis axis) const { return points(axis).count; }
    [[nodiscard]] int stride(Axis axis) const { return spans.at(axis).stride; }
    [[nodiscard]] bool is_empty() const;
};

/// Ranks cut grids in z alone; a coarse plane lies on an even fine plane of the same rank. Grids up to
/// `whole_edge` are too coarse to cut: every rank works on the whole of them, which costs less than the
/// messages would.
class PlaneCut {
  public:
    PlaneCut(int finest_edge, const World& world);

    /// Ranks with planes of their own; the others have nothing to do.
    [[nodiscard]] int active_ranks() const { return active_ranks_; }
    [[nodiscard]] int finest_edge() const { return finest_edge_; }
    [[nodiscard]] int whole_edge() const { return whole_edge_; }
    [[nodiscard]] bool is_whole(int edge) const { return edge <= whole_edge_; }
    /// The planes that are `rank`'s own, of the finest whole grid or a finer one.
    [[nodiscard]] Share<int> planes(int edge, int rank) const;
    /// What this rank works on.
    [[nodiscard]] Block block(int edge) const;
    /// The block's planes on which this rank's planes of the next finer grid lie: all but of the finest whole
    /// grid.
    [[nodiscard]] Share<int> planes_of_finer(int edge) const;

  private:
    int finest_edge_;
    int rank_;
    int active_ranks_;
    int whole_edge_;
};

/// A cube of ranks cuts every grid into blocks: a power of two along each axis, as near to each other as they
/// can be, z before y before x. Ranks are counted along x first, in each axis from its end: the ranks that
/// have no points of a coarse grid are then the reference's, whose coarse points lie on odd places (here on
/// even ones).
class BlockCut {
  public:
    /// `active` has as many ranks as `ranks_of` gives.
    explicit BlockCut(const World& active);

    /// How many of `ranks` a grid of this edge can use: a power of two, and no axis with more ranks than
    /// points.
    [[nodiscard]] static int ranks_of(int edge, int ranks);

    /// What this rank works on.
    [[nodiscard]] Block block(int edge) const;
    /// The rank so many places further along the axis; the cube is periodic.
    [[nodiscard]] int neighbour(Axis axis, int distance) const;

  private:
    std::array<int, axes.size()> ranks_{};
    /// This rank's.
    std::array<int, axes.size()> place_{};
};

}  // namespace tare::npb::mg
