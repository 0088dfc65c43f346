// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "npb/bt/lines.hpp"
#include "npb/bt/solver.hpp"
#include "npb/flow/cell_sweep.hpp"
#include "npb/flow/fields.hpp"

namespace tare::npb::bt {

/// The steps of `Solver` in the cells of a multi-partition, with the reference's messages: six of faces, then
/// in each direction one to the next rank and one back between neighbouring slabs.
class CellSolver {
  public:
    CellSolver(const flow::CellGrid& grid, int edge, double time_step, Simd simd, Team& team);

    /// Back to the initial field, or to another that `set` makes.
    void start(void (*set)(flow::Field& field, Team& team) = flow::set_initial) { cells_.start(set); }
    void step(Times& times);

    /// Norms over all ranks of the field as it is.
    [[nodiscard]] flow::Point residual_norms() { return cells_.residual_norms(); }
    [[nodiscard]] flow::Point error_norms() const { return cells_.error_norms(); }

  private:
    void sweep_x();
    void sweep_y();
    void sweep_z();
    [[nodiscard]] LinesX lines_x(const flow::CellRow& row, int y, double* room);
    [[nodiscard]] Bundle lines(const flow::CellRow& row, flow::Axis axis, int x, double* room);

    double time_step_;
    Functions functions_;
    flow::Fields cells_;
    flow::CellSweep along_x_;
    flow::CellSweep along_y_;
    flow::CellSweep along_z_;
    /// What elimination keeps of each cell.
    std::vector<Buffer<double>> rooms_;
    /// Of each thread.
    std::vector<Buffer<double>> scratch_;
};

}  // namespace tare::npb::bt
