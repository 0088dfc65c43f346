// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/level.hpp"

namespace tare::npb::mg {

namespace {

PlaneRange own_planes(const Layout& layout, int edge, int rank) {
    return edge < layout.whole_edge() ? PlaneRange{.first = 0, .count = edge} : layout.planes(edge, rank);
}

/// Whole grids have no neighbours but themselves.
World neighbourhood(const Layout& layout, int edge, const World& active) {
    return layout.is_whole(edge) ? World{.communicator = MPI_COMM_SELF} : active;
}

}  // namespace

Level::Level(const Functions& functions, const Weights& smoother, const Layout& layout, const World& active,
             int grid_edge)
    : edge{grid_edge},
      planes{layout.is_whole(edge) ? PlaneRange{.first = 0, .count = edge}
                                   : layout.planes(edge, active.rank)},
      own{own_planes(layout, edge, active.rank)},
      solution{edge, planes.count, edge == layout.finest_edge() ? solution_depth : coarse_solution_depth},
      right_side{edge, planes.count,
                 edge == layout.finest_edge() ? right_side_depth : coarse_right_side_depth},
      solution_borders{neighbourhood(layout, edge, active), solution},
      right_side_borders{neighbourhood(layout, edge, active), right_side},
      sweep{functions, smoother, Tiles{edge}, planes.count} {}

}  // namespace tare::npb::mg
