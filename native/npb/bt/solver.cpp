// SPDX-License-Identifier: Apache-2.0
#include "npb/bt/solver.hpp"

#include <cstddef>

namespace tare::npb::bt {

using flow::Axis;
using flow::RowInHand;

namespace {

/// Twice as many take longer: 30 numbers are kept of each place of a line on its way.
constexpr int worth_places = 256;

constexpr flow::LineNumbers numbers{.forward = kept, .backward = flow::components, .kept = kept};

}  // namespace

Solver::Solver(const flow::ProcessGrid& grid, int edge, double time_step, Simd simd, Team& team)
    : time_step_{time_step},
      functions_{functions(simd)},
      fields_{grid, edge, simd, team},
      along_y_{flow::Sweep::along(Axis::y, grid, block(), functions_.lanes, worth_places, numbers, team)},
      along_z_{flow::Sweep::along(Axis::z, grid, block(), functions_.lanes, worth_places, numbers, team)},
      scratch_x_{static_cast<std::size_t>(team.threads()) * x_scratch(edge)} {
    start();
}

void Solver::step(Times& times) {
    times.time(Part::borders, [&] { fields_.exchange(); });
    times.time(Part::y, [&] { sweep_planes(times); });
    times.time(Part::z, [&] { sweep_z(); });
}

double* Solver::scratch_x(int thread) {
    return &scratch_x_.span()[static_cast<std::size_t>(thread) * x_scratch(block().x.count)];
}

void Solver::prepare_plane(const flow::RowInHand& plane, const Share<int>& groups, Times& times) {
    const int z = plane.row;
    times.instead(Part::y, Part::right_hand_side, plane.thread,
                  [&] { fields_.right_hand_side(time_step_).set(z, groups); });
    times.instead(Part::y, Part::x, plane.thread, [&] {
        functions_.solve_x(block(), time_step_, fields_.u().view(), fields_.right().view(),
                           rows_of(block().y, z, groups), scratch_x(plane.thread));
    });
}

void Solver::sweep_planes(Times& times) {
    const auto u = fields_.u().view();
    const auto right = fields_.right().view();
    const auto lines = [&](int z, int x, double* room) {
        return Bundle{.u = u.point(z, 0, x),
                      .right = right.point(z, 0, x),
                      .component = u.component,
                      .u_step = u.row,
                      .right_step = right.row,
                      .extent = block().y,
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
    const auto u = fields_.u().view();
    const auto right = fields_.right().view();
    const auto lines = [&](int y, int x, double* room) {
        return Bundle{.u = u.point(0, y, x),
                      .right = right.point(0, y, x),
                      .component = u.component,
                      .u_step = u.plane,
                      .right_step = right.plane,
                      .extent = block().z,
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

}  // namespace tare::npb::bt
