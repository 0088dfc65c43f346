// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/buffer.hpp"
#include "npb/mg/progress.hpp"
#include "npb/mg/rows.hpp"
#include "npb/mg/sweep_order.hpp"
#include "npb/mg/tiles.hpp"
#include "npb/mg/window.hpp"

namespace tare::npb::mg {

/// What one thread does in a sweep, and its scratch.
class alignas(buffer_alignment_byte) TileSweep {
  public:
    /// `kept` and `progress` are shared with the sweep's other threads.
    TileSweep(const Functions& functions, const Weights& smoother, const Tiles& tiles, KeptPairs& kept,
              TileProgress& progress);

    /// Goes through all planes of the tile. The sum of squares of its new residual if `order.measures`,
    /// else 0.
    double run(const Tile& tile, const SweepGrids& grids, const SweepOrder& order);

  private:
    void begin(const Tile& tile, const SweepGrids& grids, const SweepOrder& order);
    void step(int plane);
    void correct(int plane, Rows rows);
    void fetch_right_side(int plane, int row) const;
    void take_residual(int plane, Rows rows);
    void smooth(int plane, Rows rows);
    void go_on(int plane);
    void restrict_planes(int coarse_plane);
    void add_residual(int plane, Rows rows, double* result);

    Functions functions_;
    Weights smoother_;
    TileProgress* progress_;
    int length_;
    ResidualInHand residual_;
    PlanesInHand new_residual_;
    SweepGrids grids_{};
    SweepOrder order_{};
    Depth depth_{};
    Tile tile_{};
    double sum_of_squares_ = 0;
};

}  // namespace tare::npb::mg
