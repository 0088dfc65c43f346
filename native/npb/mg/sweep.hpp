// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "npb/common/team.hpp"
#include "npb/mg/progress.hpp"
#include "npb/mg/rows.hpp"
#include "npb/mg/sweep_order.hpp"
#include "npb/mg/tile_sweep.hpp"
#include "npb/mg/tiles.hpp"
#include "npb/mg/window.hpp"

namespace tare::npb::mg {

/// One pass over a grid that does a V-cycle's whole way on it: u += Q z, r = v - A u, u += S r, then
/// r = v - A u and its restriction. Each stage follows one plane and one row behind the stage before
/// (wavefront, or temporal blocking), in tiles of rows whose planes stay in the second cache, so that u and v
/// come from memory once and no residual goes there. Each thread has a tile at a time, and follows one plane
/// behind the thread that has the tile before.
class Sweep {
  public:
    /// For grids of up to `planes` planes.
    Sweep(const Functions& functions, const Weights& smoother, const Tiles& tiles, int planes, Team& team);
    Sweep(const Sweep&) = delete;
    Sweep& operator=(const Sweep&) = delete;
    Sweep(Sweep&&) = delete;
    Sweep& operator=(Sweep&&) = delete;
    ~Sweep() = default;

    /// The sum of squares of this rank's new residual if `order.measures`, else 0. The order of the sum
    /// depends on the tiles alone.
    double run(const SweepGrids& grids, const SweepOrder& order);

  private:
    Tiles tiles_;
    Team* team_;
    KeptPairs kept_;
    TileProgress progress_;
    /// One for each thread.
    std::vector<TileSweep> workers_;
    /// One for each tile.
    std::vector<double> sums_of_squares_;
};

}  // namespace tare::npb::mg
