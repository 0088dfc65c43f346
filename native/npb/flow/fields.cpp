// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/fields.hpp"

#include <memory>
#include <utility>

#include "npb/flow/border.hpp"
#include "npb/flow/faces.hpp"
#include "npb/flow/forcing.hpp"
#include "npb/flow/norms.hpp"

namespace tare::npb::flow {

namespace {

std::vector<Block> blocks_of(const CellGrid& grid, int edge) {
    std::vector<Block> blocks;
    blocks.reserve(static_cast<std::size_t>(grid.side()));
    for (int cell = 0; cell < grid.side(); ++cell) {
        blocks.push_back(grid.block(cell, edge));
    }
    return blocks;
}

}  // namespace

Fields::Fields(const ProcessGrid& grid, int edge, Simd simd, Team& team)
    : Fields{{grid.block(edge)},
             grid.world.communicator,
             [grid](std::span<Field> fields) { exchange_borders(fields.front(), grid); },
             simd,
             team} {}

Fields::Fields(const CellGrid& grid, int edge, Simd simd, Team& team)
    : Fields{
          blocks_of(grid, edge), grid.world().communicator,
          [faces = std::make_shared<Faces>(grid, edge)](std::span<Field> fields) { faces->exchange(fields); },
          simd, team} {}

Fields::Fields(const std::vector<Block>& blocks, MPI_Comm communicator, Exchange exchange, Simd simd,
               Team& team)
    : team_{&team}, communicator_{communicator}, functions_{functions(simd)}, exchange_{std::move(exchange)} {
    for (const Block& block : blocks) {
        u_.emplace_back(block, Field::Border::ghosts);
        forcing_.push_back(forcing(block, simd, team));
        right_.emplace_back(block, Field::Border::none);
    }
}

void Fields::start(void (*set)(Field& field, Team& team)) {
    for (Field& field : u_) {
        set(field, *team_);
    }
}

RightHandSide Fields::right_hand_side(double scale, int cell) {
    return {functions_, scale, u(cell), forcing_[static_cast<std::size_t>(cell)], right(cell)};
}

void Fields::set_right_hand_side(double scale) {
    for (std::size_t cell = 0; cell < u_.size(); ++cell) {
        right_hand_side(scale, static_cast<int>(cell)).set(*team_);
    }
}

Point Fields::residual_norms() {
    exchange();
    set_right_hand_side(1);
    return flow::residual_norms(right_, communicator_);
}

Point Fields::error_norms() const { return flow::error_norms(u_, communicator_); }

}  // namespace tare::npb::flow
