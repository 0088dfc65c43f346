// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/level.hpp"

namespace tare::npb::mg {

namespace {

Share<int> own_planes(const Layout& layout, int edge, int rank) {
    return edge < layout.whole_edge() ? Share<int>{.first = 0, .count = edge} : layout.planes(edge, rank);
}

/// Whole grids have no neighbours but themselves.
World neighbourhood(const Layout& layout, int edge, const World& active) {
    return layout.is_whole(edge) ? World{.communicator = MPI_COMM_SELF} : active;
}

}  // namespace

Level::Level(const Functions& functions, const Weights& smoother, const Layout& layout, const World& active,
             Team& threads, int grid_edge)
    : edge{grid_edge},
      team{&threads},
      planes{layout.is_whole(edge) ? Share<int>{.first = 0, .count = edge}
                                   : layout.planes(edge, active.rank)},
      own{own_planes(layout, edge, active.rank)},
      solution{edge, planes.count, edge == layout.finest_edge() ? solution_depth : coarse_solution_depth},
      right_side{edge, planes.count,
                 edge == layout.finest_edge() ? right_side_depth : coarse_right_side_depth},
      solution_borders{neighbourhood(layout, edge, active), solution, threads},
      right_side_borders{neighbourhood(layout, edge, active), right_side, threads},
      sweep{functions, smoother, tiles_for(edge, threads.threads()), planes.count, threads} {}

}  // namespace tare::npb::mg
