// SPDX-License-Identifier: Apache-2.0
#include "npb/bt/solver.hpp"

#include <cstddef>

#include "npb/flow/border.hpp"
#include "npb/flow/forcing.hpp"
#include "npb/flow/norms.hpp"

namespace tare::npb::bt {

namespace {

enum Tag { tag_y = 100, tag_z = 102 };

int whole_rows(int places) {
    return (places + flow::row_alignment - 1) / flow::row_alignment * flow::row_alignment;
}

/// Along an axis, in rows of the other one.
flow::Sweep sweep(const flow::Neighbours& neighbours, MPI_Comm communicator, int tag,
                  const flow::Block& block, const flow::Extent& rows, const flow::Extent& places, int lanes) {
    return {neighbours,
            communicator,
            tag,
            {.row_begin = rows.begin(),
             .row_end = rows.end(),
             .vectors = whole_rows(block.x.count) / lanes,
             .lanes = lanes,
             .places = places.count},
            {.forward = kept, .backward = flow::components, .kept = kept}};
}

}  // namespace

Solver::Solver(const flow::ProcessGrid& grid, int edge, double time_step, Simd simd)
    : grid_{grid},
      block_{grid.block(edge)},
      time_step_{time_step},
      flow_{flow::functions(simd)},
      functions_{functions(simd)},
      forcing_{flow::forcing(block_, simd)},
      u_{block_, flow::Field::Border::ghosts},
      right_{block_, flow::Field::Border::none},
      along_y_{sweep(grid.y, grid.world.communicator, tag_y, block_, block_.z, block_.y, functions_.lanes)},
      along_z_{sweep(grid.z, grid.world.communicator, tag_z, block_, block_.y, block_.z, functions_.lanes)},
      scratch_x_{x_scratch(edge)} {
    start();
}

void Solver::start(void (*set)(flow::Field& field)) { set(u_); }

void Solver::step(Times& times) {
    times.time(Part::borders, [&] { flow::exchange_borders(u_, grid_); });
    times.time(Part::y, [&] { sweep_planes(times); });
    times.time(Part::z, [&] { sweep_z(); });
}

void Solver::prepare_plane(int z, Times& times) {
    const flow::Rows rows{.z = z, .y_begin = block_.y.begin(), .y_end = block_.y.end()};
    times.time(Part::right_hand_side, [&] {
        flow_.right_hand_side(block_, time_step_, u_.view(), forcing_.view(), rows, right_.view());
    });
    times.time(Part::x, [&] {
        functions_.solve_x(block_, time_step_, u_.view(), right_.view(), rows, scratch_x_.data());
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
        [&](int z) { times.without(Part::y, [&] { prepare_plane(z, times); }); },
        [&](int z, int x, double* state, double* room) { functions_.eliminate_y(lines(z, x, room), state); },
        [&](int z, int x, double* state, double* room) { functions_.substitute(lines(z, x, room), state); });
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
    along_z_.run(
        [](int) {},
        [&](int y, int x, double* state, double* room) { functions_.eliminate_z(lines(y, x, room), state); },
        [&](int y, int x, double* state, double* room) {
            functions_.substitute_and_add(lines(y, x, room), state);
        });
}

flow::Point Solver::residual_norms() {
    flow::exchange_borders(u_, grid_);
    for (int z = block_.z.begin(); z < block_.z.end(); ++z) {
        flow_.right_hand_side(block_, 1, u_.view(), forcing_.view(),
                              {.z = z, .y_begin = block_.y.begin(), .y_end = block_.y.end()}, right_.view());
    }
    return flow::residual_norms(right_, grid_.world.communicator);
}

flow::Point Solver::error_norms() const { return flow::error_norms(u_, grid_.world.communicator); }

}  // namespace tare::npb::bt
