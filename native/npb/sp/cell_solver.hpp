// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/simd.hpp"
#include "npb/common/team.hpp"
#include "npb/flow/cell_sweep.hpp"
#include "npb/flow/fields.hpp"
#include "npb/sp/matrices.hpp"
#include "npb/sp/solver.hpp"
#include "npb/sp/sweeps.hpp"

namespace tare::npb::sp {

/// The steps of `Solver` in the cells of a multi-partition, with the reference's messages: six of faces, then
/// in each direction one to the next rank and one back between neighbouring slabs.
class CellSolver {
  public:
    /// In the initial field.
    CellSolver(const flow::CellGrid& grid, int edge, double time_step, Simd simd, Team& team);

    /// Back to the initial field, or to another that `set` makes.
    void start(void (*set)(flow::Field& field, Team& team) = flow::set_initial) { cells_.start(set); }

    void step(Times& times);

    /// Norms over all ranks of the field as it is.
    [[nodiscard]] flow::Point residual_norms() { return cells_.residual_norms(); }
    [[nodiscard]] flow::Point error_norms() const { return cells_.error_norms(); }

  private:
    [[nodiscard]] const Scheme& scheme(int cell) const {
        return matrices_[static_cast<std::size_t>(cell)].scheme();
    }
    void sweep_x();
    void sweep_y();
    void sweep_z();
    /// What the sweep along y needs of u in the plane that a thread has in hand: from the row before the
    /// cell's first to that after its last.
    [[nodiscard]] flow::View<double> links(const flow::CellRow& row);
    /// A row of them that all rows overwrite: the sweep along x leaves what the one along y needs only where
    /// both treat a plane together.
    [[nodiscard]] flow::View<double> unused_links(const flow::CellRow& row);
    [[nodiscard]] flow::Rows rows(const flow::CellRow& row, int y) const;

    double time_step_;
    Functions functions_;
    flow::Fields cells_;
    /// Of each cell.
    std::vector<Matrices> matrices_;
    flow::CellSweep along_x_;
    flow::CellSweep along_y_;
    flow::CellSweep along_z_;
    /// What elimination keeps of each cell.
    std::vector<Buffer<double>> rooms_;
    /// Of each thread.
    std::vector<Buffer<double>> links_;
};

}  // namespace tare::npb::sp
