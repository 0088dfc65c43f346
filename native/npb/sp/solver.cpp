// SPDX-License-Identifier: Apache-2.0
#include "npb/sp/solver.hpp"

#include <cstddef>

#include "npb/flow/border.hpp"
#include "npb/flow/forcing.hpp"
#include "npb/flow/groups.hpp"
#include "npb/flow/norms.hpp"

namespace tare::npb::sp {

using flow::RowInHand;

namespace {

enum Tag { along_y = 100, along_z = 102 };

std::size_t product(int first, int second, int third) {
    return static_cast<std::size_t>(first) * static_cast<std::size_t>(second) *
           static_cast<std::size_t>(third);
}

std::size_t numbers_of_scratch(const Scheme& scheme, const Functions& functions) {
    return product(row_numbers, functions.lanes, scheme.width);
}

/// A place is less work than in BT, and less is kept of it.
constexpr int worth_places = 512;

/// Along an axis, in rows of the other one.
flow::Sweep sweep(const flow::Neighbours& neighbours, MPI_Comm communicator, int tag,
                  const flow::Extent& rows, const flow::Extent& places, int groups, int width, int lanes,
                  int kept, Team& team) {
    return {neighbours,
            communicator,
            tag,
            {.row_begin = rows.begin(),
             .row_end = rows.end(),
             .groups = groups,
             .vectors = width / lanes,
             .lanes = lanes,
             .places = places.count,
             .axis_places = places.edge,
             .worth_places = worth_places},
            {.forward = forward_state, .backward = backward_state, .kept = kept},
            team};
}

}  // namespace

Solver::Solver(const flow::ProcessGrid& grid, int edge, double time_step, Simd simd, Team& team)
    : team_{&team},
      grid_{grid},
      time_step_{time_step},
      flow_{flow::functions(simd)},
      functions_{functions(simd)},
      matrices_{grid.block(edge), time_step},
      field_{scheme().block, flow::Field::Border::ghosts},
      forcing_{flow::forcing(scheme().block, simd, team)},
      result_{scheme().block, flow::Field::Border::none},
      along_y_{sweep(grid.y, grid.world.communicator, along_y, scheme().block.z, scheme().block.y,
                     flow::groups_of(scheme().block.y), scheme().width, functions_.lanes, kept_y, team)},
      along_z_{sweep(grid.z, grid.world.communicator, along_z, scheme().block.y, scheme().block.z, 0,
                     scheme().width, functions_.lanes, kept_z, team)},
      links_{product(link_quantities * along_y_.rows_together(), scheme().block.y.count + 2, scheme().width)},
      scratch_{static_cast<std::size_t>(team.threads()) * numbers_of_scratch(scheme(), functions_)} {
    start();
}

void Solver::start(void (*set)(flow::Field& field, Team& team)) { set(field_, *team_); }

void Solver::fetch_borders() { flow::exchange_borders(field_, grid_); }

/// From the row before the block's first to that after its last.
flow::View<double> Solver::links(int slot) {
    const std::ptrdiff_t row = std::ptrdiff_t{link_quantities} * scheme().width;
    const std::ptrdiff_t plane = (scheme().block.y.count + 2) * row;
    const auto first = static_cast<std::size_t>(slot * plane + row);
    return {
        .origin = links_.span().subspan(first).data(), .component = scheme().width, .row = row, .plane = 0};
}

double* Solver::scratch(int thread) {
    return &scratch_.span()[static_cast<std::size_t>(thread) * numbers_of_scratch(scheme(), functions_)];
}

void Solver::prepare_plane(const RowInHand& plane, const Share<int>& groups) {
    const int z = plane.row;
    const flow::Extent& y = scheme().block.y;
    const auto right_hand_side = flow::RightHandSide{flow_, time_step_, field_, forcing_, result_};
    const auto links_here = links(plane.slot);
    if (groups.has(0)) {
        functions_.link_y(scheme(), field_.view(), z, y.begin() - 1, links_here);
        functions_.link_y(scheme(), field_.view(), z, y.end(), links_here);
    }
    for (int group = groups.first; group < groups.end(); ++group) {
        const Share<int> one{.first = group, .count = 1};
        right_hand_side.set(z, one);
        functions_.solve_x(scheme(), field_.view(), rows_of(y, z, one), result_.view(), links_here,
                           scratch(plane.thread));
    }
}

void Solver::sweep_planes() {
    along_y_.run([&](const RowInHand& plane, const Share<int>& groups) { prepare_plane(plane, groups); },
                 [&](const RowInHand& plane, int x, double* state, double* kept) {
                     functions_.forward_y(scheme(), links(plane.slot), plane.row, x, result_.view(), state,
                                          kept);
                 },
                 [&](const RowInHand& plane, int x, double* state, double* kept) {
                     functions_.backward_y(scheme(), plane.row, x, result_.view(), state, kept);
                 });
}

void Solver::sweep_z() {
    along_z_.run([](const RowInHand& /*row*/, const Share<int>& /*groups*/) {},
                 [&](const RowInHand& row, int x, double* state, double* kept) {
                     functions_.forward_z(scheme(), field_.view(), result_.view(), row.row, x, state, kept);
                 },
                 [&](const RowInHand& row, int x, double* state, double* kept) {
                     functions_.backward_z(scheme(), field_.view(), row.row, x, state, kept);
                 });
}

flow::Point Solver::residual_norms() {
    fetch_borders();
    flow::RightHandSide{flow_, 1, field_, forcing_, result_}.set(*team_);
    return flow::residual_norms(result_, grid_.world.communicator);
}

flow::Point Solver::error_norms() const { return flow::error_norms(field_, grid_.world.communicator); }

}  // namespace tare::npb::sp
