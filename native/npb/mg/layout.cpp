// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/layout.hpp"

#include <algorithm>

namespace tare::npb::mg {

namespace {

/// Borders of the finest grid reach into one neighbour, not beyond: see `solution_depth`.
constexpr int least_finest_planes = 4;
/// A grid of this edge is whole in every rank.
constexpr int always_whole_edge = 8;
/// Ranks may differ by one plane of the finest whole grid: not by more than an eighth.
constexpr int even_enough = 8;

bool is_even(int planes, int ranks) {
    return planes >= 2 * ranks && (planes % ranks == 0 || planes >= even_enough * ranks);
}

int whole_edge_of(int finest_edge, int ranks) {
    int edge = always_whole_edge;
    while (2 * edge < finest_edge && !is_even(edge, ranks)) {
        edge *= 2;
    }
    return edge;
}

}  // namespace

Layout::Layout(int finest_edge, const World& world)
    : finest_edge_{finest_edge},
      active_ranks_{std::min(world.ranks, finest_edge / least_finest_planes)},
      whole_edge_{whole_edge_of(finest_edge, active_ranks_)} {}

Share<int> Layout::planes(int edge, int rank) const {
    const int planes_of_one = edge / whole_edge_;
    const Share<int> of_whole_grid = share_of(whole_edge_, active_ranks_, rank);
    return {.first = of_whole_grid.first * planes_of_one, .count = of_whole_grid.count * planes_of_one};
}

}  // namespace tare::npb::mg
