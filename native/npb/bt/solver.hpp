// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "npb/bt/lines.hpp"
#include "npb/common/buffer.hpp"
#include "npb/common/simd.hpp"
#include "npb/common/team.hpp"
#include "npb/common/timing.hpp"
#include "npb/flow/exact.hpp"
#include "npb/flow/field.hpp"
#include "npb/flow/fields.hpp"
#include "npb/flow/process_grid.hpp"
#include "npb/flow/sweep.hpp"

namespace tare::npb::bt {

enum class Part { borders, right_hand_side, x, y, z };
constexpr std::size_t parts = 5;

/// Of this rank's thread 0; waiting for other threads and ranks belongs to the part that waits.
struct Times : Phases<Part, parts> {
    Times() : Phases{{"borders", "right-hand side", "x", "y", "z"}} {}

    /// Runs `work` in the midst of another part, to which its time does not belong.
    template <typename Work>
    void instead(Part outer, Part part, int thread, const Work& work) {
        if (thread != 0) {
            work();
            return;
        }
        const double start_s = MPI_Wtime();
        work();
        const double wall_s = MPI_Wtime() - start_s;
        add(outer, -wall_s);
        add(part, wall_s);
    }
};

/// Advances the flow in time: each step solves (I - dt A_x) (I - dt A_y) (I - dt A_z) change = dt residual,
/// with the operator's Jacobians A at the step's start (RNR-94-007 section 3.4).
///
/// A step passes twice over memory. The first pass makes a z plane's right-hand side and solves along x and y
/// while it is in cache; the second solves along z, a few lines at a time, and adds the change.
class Solver {
  public:
    Solver(const flow::ProcessGrid& grid, int edge, double time_step, Simd simd, Team& team);

    /// Back to the initial field, or to another that `set` makes.
    void start(void (*set)(flow::Field& field, Team& team) = flow::set_initial) { fields_.start(set); }
    void step(Times& times);

    /// Norms over all ranks of the field as it is.
    [[nodiscard]] flow::Point residual_norms() { return fields_.residual_norms(); }
    [[nodiscard]] flow::Point error_norms() const { return fields_.error_norms(); }

    [[nodiscard]] const flow::Field& field() const { return fields_.u(); }

  private:
    void sweep_planes(Times& times);
    void sweep_z();

    void prepare_plane(const flow::RowInHand& plane, const Share<int>& groups, Times& times);
    [[nodiscard]] double* scratch_x(int thread);
    [[nodiscard]] const flow::Block& block() const { return fields_.block(); }

    double time_step_;
    Functions functions_;
    flow::Fields fields_;
    flow::Sweep along_y_;
    flow::Sweep along_z_;
    /// Of each thread.
    Buffer<double> scratch_x_;
};

}  // namespace tare::npb::bt
