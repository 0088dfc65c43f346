// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/sweep.hpp"

#include <cstddef>
#include <numeric>

namespace tare::npb::mg {

Sweep::Sweep(const Functions& functions, const Weights& smoother, const Tiles& tiles, int planes, Team& team)
    : tiles_{tiles},
      team_{&team},
      kept_{row_length(tiles.edge()), -right_side_depth.below,
            planes + right_side_depth.below + right_side_depth.above},
      progress_{tiles.count()},
      sums_of_squares_(static_cast<std::size_t>(tiles.count())) {
    workers_.reserve(static_cast<std::size_t>(team.threads()));
    for (int thread = 0; thread < team.threads(); ++thread) {
        workers_.emplace_back(functions, smoother, tiles, kept_, progress_);
    }
}

double Sweep::run(const SweepGrids& grids, const SweepOrder& order) {
    progress_.begin();
    team_->run([&](int thread) {
        TileSweep& worker = workers_[static_cast<std::size_t>(thread)];
        for (int tile = thread; tile < tiles_.count(); tile += team_->threads()) {
            sums_of_squares_[static_cast<std::size_t>(tile)] = worker.run(tiles_.tile(tile), grids, order);
        }
    });
    return std::accumulate(sums_of_squares_.begin(), sums_of_squares_.end(), 0.0);
}

}  // namespace tare::npb::mg
