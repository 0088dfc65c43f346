// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "npb/common/simd.hpp"
#include "npb/common/team.hpp"
#include "npb/flow/cell_grid.hpp"
#include "npb/flow/exact.hpp"
#include "npb/flow/field.hpp"
#include "npb/flow/groups.hpp"
#include "npb/flow/process_grid.hpp"
#include "npb/flow/right_hand_side.hpp"

namespace tare::npb::flow {

/// The flow in a rank's block, or in all of its cells: the fluid, what drives it, and the right-hand side of
/// the systems. The only block of a `ProcessGrid` is cell 0.
class Fields {
  public:
    /// At rest.
    Fields(const ProcessGrid& grid, int edge, Simd simd, Team& team);
    Fields(const CellGrid& grid, int edge, Simd simd, Team& team);

    /// The initial field, or another that `set` makes.
    void start(void (*set)(Field& field, Team& team));
    /// Fetches the neighbours' layers of u.
    void exchange() { exchange_(u_); }
    /// scale * (forcing + operator applied to u), which needs the neighbours' layers: of one cell, to be set
    /// row by row or at once, or of all cells.
    [[nodiscard]] RightHandSide right_hand_side(double scale, int cell = 0);
    void set_right_hand_side(double scale);

    [[nodiscard]] Field& u(int cell = 0) { return u_[static_cast<std::size_t>(cell)]; }
    [[nodiscard]] const Field& u(int cell = 0) const { return u_[static_cast<std::size_t>(cell)]; }
    [[nodiscard]] Field& right(int cell = 0) { return right_[static_cast<std::size_t>(cell)]; }
    [[nodiscard]] const Block& block(int cell = 0) const { return u(cell).block(); }

    /// Norms over all ranks of the fluid as it is.
    [[nodiscard]] Point residual_norms();
    [[nodiscard]] Point error_norms() const;

  private:
    using Exchange = std::function<void(std::span<Field>)>;
    Fields(const std::vector<Block>& blocks, MPI_Comm communicator, Exchange exchange, Simd simd, Team& team);

    Team* team_;
    MPI_Comm communicator_;
    Functions functions_;
    Exchange exchange_;
    std::vector<Field> u_;
    std::vector<Field> forcing_;
    std::vector<Field> right_;
};

}  // namespace tare::npb::flow
