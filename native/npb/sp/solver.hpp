// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/buffer.hpp"
#include "npb/common/simd.hpp"
#include "npb/common/team.hpp"
#include "npb/common/timing.hpp"
#include "npb/flow/exact.hpp"
#include "npb/flow/field.hpp"
#include "npb/flow/fields.hpp"
#include "npb/flow/process_grid.hpp"
#include "npb/flow/sweep.hpp"
#include "npb/sp/matrices.hpp"
#include "npb/sp/sweeps.hpp"

namespace tare::npb::sp {

enum class Part { borders, planes, z };
struct Times : Phases<Part, 3> {
    Times() : Phases{{"borders", "planes", "z"}} {}
};

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
    void start(void (*set)(flow::Field& field, Team& team) = flow::set_initial) { fields_.start(set); }
    void step(Times& times);

    /// Norms over all ranks of the field as it is.
    [[nodiscard]] flow::Point residual_norms() { return fields_.residual_norms(); }
    [[nodiscard]] flow::Point error_norms() const { return fields_.error_norms(); }

    [[nodiscard]] const flow::Field& field() const { return fields_.u(); }

  private:
    void sweep_planes();
    void sweep_z();

    [[nodiscard]] const Scheme& scheme() const { return matrices_.scheme(); }
    void prepare_plane(const flow::RowInHand& plane, const Share<int>& groups);
    [[nodiscard]] flow::View<double> links(int slot);
    [[nodiscard]] double* scratch(int thread);

    double time_step_;
    Functions functions_;
    flow::Fields fields_;
    Matrices matrices_;
    flow::Sweep along_y_;
    flow::Sweep along_z_;
    /// Of as many planes as the sweep along y takes together.
    Buffer<double> links_;
    /// Of each thread.
    Buffer<double> scratch_;
};

}  // namespace tare::npb::sp
