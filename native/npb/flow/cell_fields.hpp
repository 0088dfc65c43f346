// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "npb/common/simd.hpp"
#include "npb/common/team.hpp"
#include "npb/flow/cell_grid.hpp"
#include "npb/flow/exact.hpp"
#include "npb/flow/faces.hpp"
#include "npb/flow/field.hpp"
#include "npb/flow/right_hand_side.hpp"

namespace tare::npb::flow {

/// The flow in the cells of a rank: the fluid, what drives it, and the right-hand side of the systems.
class CellFields {
  public:
    /// At rest.
    CellFields(const CellGrid& grid, int edge, Simd simd, Team& team);

    /// The initial field, or another that `set` makes.
    void start(void (*set)(Field& field, Team& team));
    void exchange_faces() { faces_.exchange(u_); }
    /// scale * (forcing + operator applied to u), which needs the neighbours' faces.
    void set_right_hand_side(double scale);

    [[nodiscard]] Field& u(int cell) { return u_[static_cast<std::size_t>(cell)]; }
    [[nodiscard]] Field& right(int cell) { return right_[static_cast<std::size_t>(cell)]; }
    [[nodiscard]] const Block& block(int cell) const { return u_[static_cast<std::size_t>(cell)].block(); }

    /// Norms over all ranks of the fluid as it is.
    [[nodiscard]] Point residual_norms();
    [[nodiscard]] Point error_norms() const;

  private:
    Team* team_;
    CellGrid grid_;
    Functions functions_;
    Faces faces_;
    std::vector<Field> u_;
    std::vector<Field> forcing_;
    std::vector<Field> right_;
};

}  // namespace tare::npb::flow
