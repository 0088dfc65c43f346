// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/cell_fields.hpp"

#include "npb/flow/forcing.hpp"
#include "npb/flow/groups.hpp"
#include "npb/flow/norms.hpp"

namespace tare::npb::flow {

CellFields::CellFields(const CellGrid& grid, int edge, Simd simd, Team& team)
    : team_{&team}, grid_{grid}, functions_{functions(simd)}, faces_{grid, edge} {
    for (int cell = 0; cell < grid.side(); ++cell) {
        const Block block = grid.block(cell, edge);
        u_.emplace_back(block, Field::Border::ghosts);
        forcing_.push_back(forcing(block, simd, team));
        right_.emplace_back(block, Field::Border::none);
    }
}

void CellFields::start(void (*set)(Field& field, Team& team)) {
    for (Field& field : u_) {
        set(field, *team_);
    }
}

void CellFields::set_right_hand_side(double scale) {
    for (std::size_t cell = 0; cell < u_.size(); ++cell) {
        RightHandSide{functions_, scale, u_[cell], forcing_[cell], right_[cell]}.set(*team_);
    }
}

Point CellFields::residual_norms() {
    exchange_faces();
    set_right_hand_side(1);
    return flow::residual_norms(right_, grid_.world().communicator);
}

Point CellFields::error_norms() const { return flow::error_norms(u_, grid_.world().communicator); }

}  // namespace tare::npb::flow
