// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/mg/field.hpp"
#include "npb/mg/rows.hpp"
#include "npb/mg/tiles.hpp"
#include "npb/mg/window.hpp"

namespace tare::npb::mg {

/// What a sweep works on. `planes` are this rank's planes of the solution.
struct SweepGrids {
    Grid solution;
    Grid right_side;
    int planes = 0;
    /// The coarser grid's solution.
    Grid correction{};
    /// The coarser grid's right side, which the new residual gives.
    Grid restricted{};
};

/// What a sweep does.
struct SweepOrder {
    /// Corrects the solution by the coarser grid's, then smooths it once.
    bool improves = false;
    /// The correction is added to the solution; else it replaces it.
    bool adds = false;
    /// Works out the new residual and restricts it.
    bool restricts = false;
    /// Works out the new residual and sums its squares.
    bool measures = false;

    [[nodiscard]] constexpr bool goes_on() const { return restricts || measures; }
};

/// Planes of the neighbours that a sweep which goes on to the new residual reads of solution and right side.
/// It works on them as their owner does, so that no stage has to wait for another rank.
constexpr Depth solution_depth{.below = 4, .above = 3};
constexpr Depth right_side_depth{.below = 3, .above = 2};
/// The same for a sweep that doesn't go on; as far reaches what any sweep reads of the coarser solution.
constexpr Depth coarse_solution_depth{.below = 2, .above = 2};
constexpr Depth coarse_right_side_depth{.below = 1, .above = 1};

/// One pass over a grid that does a V-cycle's whole way on it: u += Q z, r = v - A u, u += S r, then
/// r = v - A u and its restriction. Each stage follows one plane and one row behind the stage before
/// (wavefront, or temporal blocking), in tiles of rows whose planes stay in the second cache, so that u and v
/// come from memory once and no residual goes there.
class Sweep {
  public:
    /// For grids of up to `planes` planes.
    Sweep(const Functions& functions, const Weights& smoother, const Tiles& tiles, int planes);

    /// The sum of squares of this rank's new residual if `order.measures`, else 0.
    double run(const SweepGrids& grids, const SweepOrder& order);

  private:
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
    Tiles tiles_;
    int length_;
    ResidualInHand residual_;
    PlanesInHand new_residual_;
    SweepGrids grids_{};
    SweepOrder order_{};
    Depth depth_{};
    int tile_ = 0;
    double sum_of_squares_ = 0;
};

}  // namespace tare::npb::mg
