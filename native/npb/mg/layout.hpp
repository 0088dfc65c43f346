// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/share.hpp"
#include "npb/common/world.hpp"

namespace tare::npb::mg {

/// Which rank has which planes of each grid. Ranks cut grids in z alone; a coarse plane lies on an even fine
/// plane of the same rank. Grids up to `whole_edge` are too coarse to cut: every rank works on the whole of
/// them, which costs less than the messages would.
class Layout {
  public:
    Layout(int finest_edge, const World& world);

    /// Ranks with planes of their own; the others have nothing to do.
    [[nodiscard]] int active_ranks() const { return active_ranks_; }
    [[nodiscard]] int finest_edge() const { return finest_edge_; }
    [[nodiscard]] int whole_edge() const { return whole_edge_; }
    [[nodiscard]] bool is_whole(int edge) const { return edge <= whole_edge_; }
    /// The planes that are `rank`'s own, of the finest whole grid or a finer one.
    [[nodiscard]] Share<int> planes(int edge, int rank) const;

  private:
    int finest_edge_;
    int active_ranks_;
    int whole_edge_;
};

}  // namespace tare::npb::mg
