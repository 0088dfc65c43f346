// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/buffer.hpp"
#include "npb/common/simd.hpp"
#include "npb/common/team.hpp"
#include "npb/flow/exact.hpp"
#include "npb/flow/field.hpp"
#include "npb/flow/process_grid.hpp"
#include "npb/flow/right_hand_side.hpp"
#include "npb/flow/sweep.hpp"
#include "npb/sp/matrices.hpp"
#include "npb/sp/sweeps.hpp"

namespace tare::npb::sp {

/// Advances the flow in time: each step solves (I + dt A_x) (I + dt A_y) (I + dt A_z) change = dt residual,
/// with A diagonalised at each point (RNR-94-007 section 3.3.3).
///
/// A step passes twice over memory. The first pass makes a z plane's residual and sweeps it along x and y
/// while it is in cache; the second sweeps along z, a few lines at a time, and adds the change.
class Solver {
  public:
    /// In the initial field.
    Solver(const flow::ProcessGrid& grid, int edge, double time_step, Simd simd, Team& team);

    /// Back to the initial field, or to another that `set` makes.
    void start(void (*set)(flow::Field& field, Team& team) = flow::set_initial);

    /// The three parts of a step, in this order.
    void fetch_borders();
    void sweep_planes();
    void sweep_z();

    /// Norms over all ranks of the field as it is.
    [[nodiscard]] flow::Point residual_norms();
    [[nodiscard]] flow::Point error_norms() const;

    [[nodiscard]] const flow::Field& field() const { return field_; }

  private:
    [[nodiscard]] const Scheme& scheme() const { return matrices_.scheme(); }
    void prepare_plane(const flow::RowInHand& plane, const Share<int>& groups);
    [[nodiscard]] flow::View<double> links(int slot);
    [[nodiscard]] double* scratch(int thread);

    Team* team_;
    flow::ProcessGrid grid_;
    double time_step_;
    flow::Functions flow_;
    Functions functions_;
    Matrices matrices_;
    flow::Field field_;
    flow::Field forcing_;
    flow::Field result_;
    flow::Sweep along_y_;
    flow::Sweep along_z_;
    /// Of as many planes as the sweep along y takes together.
    Buffer<double> links_;
    /// Of each thread.
    Buffer<double> scratch_;
};

}  // namespace tare::npb::sp
