// SPDX-License-Identifier: Apache-2.0
#include "npb/bt/solver.hpp"

#include <cstddef>

#include "npb/flow/border.hpp"
#include "npb/flow/forcing.hpp"
#include "npb/flow/groups.hpp"
#include "npb/flow/norms.hpp"

namespace tare::npb::bt {

using flow::RowInHand;

namespace {

enum Tag { tag_y = 100, tag_z = 102 };

/// Twice as many take longer: 30 numbers are kept of each place of a line on its way.
constexpr int worth_places = 256;

int whole_rows(int places) {
    return (places + flow::row_alignment - 1) / flow::row_alignment * flow::row_alignment;
}

/// Along an axis, in rows of the other one.
flow::Sweep sweep(const flow::Neighbours& neighbours, MPI_Comm communicator, int tag,
                  const flow::Block& block, const flow::Extent& rows, const flow::Extent& places, int groups,
                  int lanes, Team& team) {
    return {neighbours,
            communicator,
            tag,
            {.row_begin = rows.begin(),
             .row_end = rows.end(),
             .groups = groups,
             .vectors = whole_rows(block.x.count) / lanes,
             .lanes = lanes,
             .places = places.count,
             .axis_places = places.edge,
             .worth_places = worth_places},
            {.forward = kept, .backward = flow::components, .kept = kept},
            team};
}

}  // namespace

Solver::Solver(const flow::ProcessGrid& grid, int edge, double time_step, Simd simd, Team& team)
    : team_{&team},
      grid_{grid},
      block_{grid.block(edge)},
      time_step_{time_step},
      flow_{flow::functions(simd)},
      functions_{functions(simd)},
      forcing_{flow::forcing(block_, simd, team)},
      u_{block_, flow::Field::Border::ghosts},
      right_{block_, flow::Field::Border::none},
      along_y_{sweep(grid.y, grid.world.communicator, tag_y, block_, block_.z, block_.y,
                     flow::groups_of(block_.y), functions_.lanes, team)},
      along_z_{sweep(grid.z, grid.world.communicator, tag_z, block_, block_.y, block_.z, 0, functions_.lanes,
                     team)},
      scratch_x_{static_cast<std::size_t>(team.threads()) * x_scratch(edge)} {
    start();
}

void Solver::start(void (*set)(flow::Field& field, Team& team)) { set(u_, *team_); }

void Solver::step(Times& times) {
    times.time(Part::borders, [&] { flow::exchange_borders(u_, grid_); });
    times.time(Part::y, [&] { sweep_planes(times); });
    times.time(Part::z, [&] { sweep_z(); });
}

double* Solver::scratch_x(int thread) {
    return &scratch_x_.span()[static_cast<std::size_t>(thread) * x_scratch(block_.x.count)];
}

void Solver::prepare_plane(const flow::RowInHand& plane, const Share<int>& groups, Times& times) {
    const int z = plane.row;
    times.instead(Part::y, Part::right_hand_side, plane.thread, [&] {
        flow::RightHandSide{flow_, time_step_, u_, forcing_, right_}.set(z, groups);
    });
    times.instead(Part::y, Part::x, plane.thread, [&] {
        functions_.solve_x(block_, time_step_, u_.view(), right_.view(), rows_of(block_.y, z, groups),
                           scratch_x(plane.thread));
    });
}

void Solver::sweep_planes(Times& times) {
    const auto u = u_.view();
    const auto right = right_.view();
    const auto lines = [&](int z, int x, double* room) {
        return Bundle{.u = u.point(z, 0, x),
                      .right = right.point(z, 0, x),
                      .component = u.component,
                      .u_step = u.row,
                      .right_step = right.row,
                      .extent = block_.y,
                      .time_step = time_step_,
                      .kept = room};
    };
    along_y_.run(
        [&](const RowInHand& plane, const Share<int>& groups) { prepare_plane(plane, groups, times); },
        [&](const RowInHand& plane, int x, double* state, double* room) {
            functions_.eliminate_y(lines(plane.row, x, room), state);
        },
        [&](const RowInHand& plane, int x, double* state, double* room) {
            functions_.substitute(lines(plane.row, x, room), state);
        });
}

void Solver::sweep_z() {
    const auto u = u_.view();
    const auto right = right_.view();
    const auto lines = [&](int y, int x, double* room) {
        return Bundle{.u = u.point(0, y, x),
                      .right = right.point(0, y, x),
                      .component = u.component,
                      .u_step = u.plane,
                      .right_step = right.plane,
                      .extent = block_.z,
                      .time_step = time_step_,
                      .kept = room};
    };
    along_z_.run([](const RowInHand& /*row*/, const Share<int>& /*groups*/) {},
                 [&](const RowInHand& row, int x, double* state, double* room) {
                     functions_.eliminate_z(lines(row.row, x, room), state);
                 },
                 [&](const RowInHand& row, int x, double* state, double* room) {
                     functions_.substitute_and_add(lines(row.row, x, room), state);
                 });
}

flow::Point Solver::residual_norms() {
    flow::exchange_borders(u_, grid_);
    flow::RightHandSide{flow_, 1, u_, forcing_, right_}.set(*team_);
    return flow::residual_norms(right_, grid_.world.communicator);
}

flow::Point Solver::error_norms() const { return flow::error_norms(u_, grid_.world.communicator); }

}  // namespace tare::npb::bt
