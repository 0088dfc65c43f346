// SPDX-License-Identifier: Apache-2.0
#include "npb/sp/cell_solver.hpp"

#include <algorithm>
#include <cstddef>

namespace tare::npb::sp {

using flow::Axis;
using flow::CellRow;

namespace {

flow::CellSweep sweep(const flow::CellGrid& grid, int edge, Axis axis, int lanes, int kept_of_place,
                      int places_beyond, Team& team) {
    return {grid,
            edge,
            axis,
            {.forward = forward_state,
             .backward = backward_state,
             .kept = kept_of_place,
             .places_beyond = places_beyond},
            lanes,
            team};
}

/// The largest cell's.
std::size_t numbers_of_links(const std::vector<Matrices>& matrices, int lanes) {
    std::size_t most = 0;
    for (const Matrices& of_cell : matrices) {
        const Scheme& scheme = of_cell.scheme();
        most = std::max(most, static_cast<std::size_t>(link_quantities) *
                                  static_cast<std::size_t>(scheme.block.y.count + 2) *
                                  static_cast<std::size_t>(scheme.width + 2 * lanes));
    }
    return most;
}

std::vector<Matrices> matrices_of(const flow::CellGrid& grid, int edge, double time_step) {
    std::vector<Matrices> made;
    made.reserve(static_cast<std::size_t>(grid.side()));
    for (int cell = 0; cell < grid.side(); ++cell) {
        made.emplace_back(grid.block(cell, edge), time_step);
    }
    return made;
}

}  // namespace

CellSolver::CellSolver(const flow::CellGrid& grid, int edge, double time_step, Simd simd, Team& team)
    : time_step_{time_step},
      functions_{functions(simd)},
      cells_{grid, edge, simd, team},
      matrices_{matrices_of(grid, edge, time_step)},
      along_x_{sweep(grid, edge, Axis::x, functions_.lanes, row_numbers, 2 * functions_.lanes, team)},
      along_y_{sweep(grid, edge, Axis::y, functions_.lanes, kept_y, 0, team)},
      along_z_{sweep(grid, edge, Axis::z, functions_.lanes, kept_z, 0, team)},
      rooms_{flow::rooms(grid, {&along_x_, &along_y_, &along_z_})} {
    for (int thread = 0; thread < team.threads(); ++thread) {
        links_.emplace_back(numbers_of_links(matrices_, functions_.lanes));
    }
    start();
}

flow::View<double> CellSolver::links(const CellRow& row) {
    const int width = scheme(row.cell).width;
    const std::ptrdiff_t numbers = std::ptrdiff_t{link_quantities} * width;
    const auto room = links_[static_cast<std::size_t>(row.thread)].span();
    return {.origin = room.subspan(static_cast<std::size_t>(numbers)).data(),
            .component = width,
            .row = numbers,
            .plane = 0};
}

flow::View<double> CellSolver::unused_links(const CellRow& row) {
    const auto room = links_[static_cast<std::size_t>(row.thread)].span();
    return {.origin = room.subspan(static_cast<std::size_t>(functions_.lanes)).data(),
            .component = 0,
            .row = 0,
            .plane = 0};
}

flow::Rows CellSolver::rows(const CellRow& row, int y) const {
    const int end = cells_.block(row.cell).y.end();
    return {.z = row.row, .y_begin = y, .y_end = std::min(y + functions_.lanes, end)};
}

void CellSolver::step(Times& times) {
    times.time(Part::borders, [&] { cells_.exchange(); });
    times.time(Part::planes, [&] {
        cells_.set_right_hand_side(time_step_);
        sweep_x();
        sweep_y();
    });
    times.time(Part::z, [&] { sweep_z(); });
}

void CellSolver::sweep_x() {
    along_x_.run(
        rooms_, [](const CellRow& /*row*/) {},
        [&](const CellRow& row, int y, double* state, double* kept) {
            functions_.forward_x(scheme(row.cell), cells_.u(row.cell).view(), rows(row, y),
                                 cells_.right(row.cell).view(), unused_links(row), state, kept);
        },
        [&](const CellRow& row, int y, double* state, double* kept) {
            functions_.backward_x(scheme(row.cell), rows(row, y), cells_.right(row.cell).view(), state, kept);
        });
}

void CellSolver::sweep_y() {
    along_y_.run(
        rooms_,
        [&](const CellRow& row) {
            const flow::Extent& extent = cells_.block(row.cell).y;
            for (int y = extent.begin() - 1; y <= extent.end(); ++y) {
                functions_.link_y(scheme(row.cell), cells_.u(row.cell).view(), row.row, y, links(row));
            }
        },
        [&](const CellRow& row, int x, double* state, double* kept) {
            functions_.forward_y(scheme(row.cell), links(row), row.row, x, cells_.right(row.cell).view(),
                                 state, kept);
        },
        [&](const CellRow& row, int x, double* state, double* kept) {
            functions_.backward_y(scheme(row.cell), row.row, x, cells_.right(row.cell).view(), state, kept);
        });
}

void CellSolver::sweep_z() {
    along_z_.run(
        rooms_, [](const CellRow& /*row*/) {},
        [&](const CellRow& row, int x, double* state, double* kept) {
            functions_.forward_z(scheme(row.cell), cells_.u(row.cell).view(), cells_.right(row.cell).view(),
                                 row.row, x, state, kept);
        },
        [&](const CellRow& row, int x, double* state, double* kept) {
            functions_.backward_z(scheme(row.cell), cells_.u(row.cell).view(), row.row, x, state, kept);
        });
}

}  // namespace tare::npb::sp
