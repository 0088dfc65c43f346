// SPDX-License-Identifier: Apache-2.0
#include "npb/bt/cell_solver.hpp"

#include <algorithm>
#include <cstddef>

namespace tare::npb::bt {

using flow::Axis;
using flow::CellRow;

namespace {

/// The reference's messages have room for a square of the largest cell's edge, or of one place more where all
/// are alike.
int room_lines(int edge, int side) {
    const int places = edge / side + 1;
    return places * places;
}

flow::CellSweep sweep(const flow::CellGrid& grid, int edge, Axis axis, int lanes, Team& team) {
    return {grid,
            edge,
            axis,
            {.forward = kept,
             .backward = flow::components,
             .kept = kept,
             .room_lines = room_lines(edge, grid.side())},
            lanes,
            team};
}

}  // namespace

CellSolver::CellSolver(const flow::CellGrid& grid, int edge, double time_step, Simd simd, Team& team)
    : time_step_{time_step},
      functions_{functions(simd)},
      cells_{grid, edge, simd, team},
      along_x_{sweep(grid, edge, Axis::x, functions_.lanes, team)},
      along_y_{sweep(grid, edge, Axis::y, functions_.lanes, team)},
      along_z_{sweep(grid, edge, Axis::z, functions_.lanes, team)},
      rooms_{flow::rooms(grid, {&along_x_, &along_y_, &along_z_})} {
    for (int thread = 0; thread < team.threads(); ++thread) {
        scratch_.emplace_back(x_scratch(edge));
    }
    start();
}

void CellSolver::step(Times& times) {
    times.time(Part::borders, [&] { cells_.exchange(); });
    times.time(Part::right_hand_side, [&] { cells_.set_right_hand_side(time_step_); });
    times.time(Part::x, [&] { sweep_x(); });
    times.time(Part::y, [&] { sweep_y(); });
    times.time(Part::z, [&] { sweep_z(); });
}

LinesX CellSolver::lines_x(const CellRow& row, int y, double* room) {
    const flow::Block& block = cells_.block(row.cell);
    return {.block = block,
            .time_step = time_step_,
            .u = cells_.u(row.cell).view(),
            .right = cells_.right(row.cell).view(),
            .rows = {.z = row.row, .y_begin = y, .y_end = std::min(y + functions_.lanes, block.y.end())},
            .scratch = scratch_[static_cast<std::size_t>(row.thread)].data(),
            .kept = room};
}

Bundle CellSolver::lines(const CellRow& row, Axis axis, int x, double* room) {
    const auto u = cells_.u(row.cell).view();
    const auto right = cells_.right(row.cell).view();
    const flow::Block& block = cells_.block(row.cell);
    const bool is_y = axis == Axis::y;
    return {.u = is_y ? u.point(row.row, 0, x) : u.point(0, row.row, x),
            .right = is_y ? right.point(row.row, 0, x) : right.point(0, row.row, x),
            .component = u.component,
            .u_step = is_y ? u.row : u.plane,
            .right_step = is_y ? right.row : right.plane,
            .extent = is_y ? block.y : block.z,
            .time_step = time_step_,
            .kept = room};
}

void CellSolver::sweep_x() {
    along_x_.run(
        rooms_, [](const CellRow& /*row*/) {},
        [&](const CellRow& row, int y, double* state, double* room) {
            functions_.eliminate_x(lines_x(row, y, room), state);
        },
        [&](const CellRow& row, int y, double* state, double* room) {
            functions_.substitute_x(lines_x(row, y, room), state);
        });
}

void CellSolver::sweep_y() {
    along_y_.run(
        rooms_, [](const CellRow& /*row*/) {},
        [&](const CellRow& row, int x, double* state, double* room) {
            functions_.eliminate_y(lines(row, Axis::y, x, room), state);
        },
        [&](const CellRow& row, int x, double* state, double* room) {
            functions_.substitute(lines(row, Axis::y, x, room), state);
        });
}

void CellSolver::sweep_z() {
    along_z_.run(
        rooms_, [](const CellRow& /*row*/) {},
        [&](const CellRow& row, int x, double* state, double* room) {
            functions_.eliminate_z(lines(row, Axis::z, x, room), state);
        },
        [&](const CellRow& row, int x, double* state, double* room) {
            functions_.substitute_and_add(lines(row, Axis::z, x, room), state);
        });
}

}  // namespace tare::npb::bt
