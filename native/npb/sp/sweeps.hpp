// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/simd.hpp"
#include "npb/flow/block.hpp"
#include "npb/flow/physics.hpp"
#include "npb/flow/right_hand_side.hpp"
#include "npb/flow/view.hpp"
#include "npb/sp/elimination.hpp"

namespace tare::npb::sp {

/// What all sweeps of a rank share.
struct Scheme {
    flow::Block block{};
    /// Places of an x row, to whole vectors.
    int width = 0;
    /// Time step / (2 spacing).
    double convection = 0;
    /// Time step / spacing^2 * second-difference dissipation, along x and y, and along z.
    double spread_xy = 0;
    double spread_z = 0;
    /// Time step / spacing^2 * heat conduction: what 1 / density adds to these. The report takes the largest
    /// of such terms over the components; conduction's is always that, as the dissipation is the same for
    /// all.
    double conduction = 0;
    /// Per place of the block: the fourth difference's weights, times the time step and the dissipation.
    const flow::FourthDifference* weight_x = nullptr;
    const flow::FourthDifference* weight_y = nullptr;
    const flow::FourthDifference* weight_z = nullptr;
};

/// Quantities of `Link`.
constexpr int link_quantities = 3;
/// Numbers of `Row`.
constexpr int row_numbers = 2 * families + waves;
/// Numbers that a line's forward sweep hands to the next rank: two rows; and the backward one: two solutions.
constexpr int forward_state = 2 * row_numbers;
constexpr int backward_state = 2 * waves;
/// Numbers that elimination keeps of each place of a line for the way back: along y the multipliers, along z
/// the row and density * sound.
constexpr int kept_y = 2 * families;
constexpr int kept_z = row_numbers + 1;

/// Sweeps take `lanes` lines at once; states, what is kept and scratch hold that many of each number.
/// `field` holds scale * residual at first, then waves along x, y, z.
struct Functions {
    int lanes;
    /// Some rows' x lines, from residual to waves along y, ready for the y sweep; `links` receives what that
    /// needs (its [y][quantity][x]). `scratch` has room for a row of the matrices at each of `width` places.
    void (*solve_x)(const Scheme& scheme, flow::View<const double> u, const flow::Rows& rows,
                    flow::View<double> field, flow::View<double> links, double* scratch);
    /// The two ways along x for at most `lanes` rows, where a rank holds a part of them; u has ghosts before
    /// and behind it. `kept` has room for a row of the matrices at each of `count` + 2 `lanes` places; what
    /// goes to `links`, from x = -`lanes` to `width` + `lanes`, is of no further use.
    void (*forward_x)(const Scheme& scheme, flow::View<const double> u, const flow::Rows& rows,
                      flow::View<double> field, flow::View<double> links, double* state, double* kept);
    /// Leaves waves along y in `field`.
    void (*backward_x)(const Scheme& scheme, const flow::Rows& rows, flow::View<double> field, double* state,
                       double* kept);
    /// `links` of one row that solve_x does not see: boundary or ghost.
    void (*link_y)(const Scheme& scheme, flow::View<const double> u, int z, int y, flow::View<double> links);
    /// y lines of one z, from x on. `state` comes from the previous rank (or is 0) and becomes that for the
    /// next.
    void (*forward_y)(const Scheme& scheme, flow::View<const double> links, int z, int x,
                      flow::View<double> field, double* state, double* kept);
    /// Leaves waves along z in `field`.
    void (*backward_y)(const Scheme& scheme, int z, int x, flow::View<double> field, double* state,
                       const double* kept);
    /// z lines of one y, from x on; leaves `field` as it is.
    void (*forward_z)(const Scheme& scheme, flow::View<const double> u, flow::View<const double> field, int y,
                      int x, double* state, double* kept);
    /// Adds the solution to u.
    void (*backward_z)(const Scheme& scheme, flow::View<double> u, int y, int x, double* state,
                       const double* kept);
};

TARE_NPB_VARIANTS(Functions)

}  // namespace tare::npb::sp
