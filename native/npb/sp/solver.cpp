// SPDX-License-Identifier: Apache-2.0
#include "npb/sp/solver.hpp"

#include <algorithm>
#include <cstddef>

#include "npb/flow/border.hpp"
#include "npb/flow/forcing.hpp"
#include "npb/flow/norms.hpp"

namespace tare::npb::sp {

namespace {

enum Tag { along_y = 100, along_z = 102 };

std::size_t product(int first, int second, int third) {
    return static_cast<std::size_t>(first) * static_cast<std::size_t>(second) *
           static_cast<std::size_t>(third);
}

/// Along an axis, in rows of the other one.
flow::Sweep sweep(const flow::Neighbours& neighbours, MPI_Comm communicator, int tag,
                  const flow::Extent& rows, const flow::Extent& places, int width, int lanes, int kept) {
    return {neighbours,
            communicator,
            tag,
            {.row_begin = rows.begin(),
             .row_end = rows.end(),
             .vectors = width / lanes,
             .lanes = lanes,
             .places = places.count},
            {.forward = forward_state, .backward = backward_state, .kept = kept}};
}

}  // namespace

Solver::Solver(const flow::ProcessGrid& grid, int edge, double time_step, Simd simd)
    : grid_{grid},
      time_step_{time_step},
      flow_{flow::functions(simd)},
      functions_{functions(simd)},
      matrices_{grid.block(edge), time_step},
      field_{scheme().block, flow::Field::Border::ghosts},
      forcing_{flow::forcing(scheme().block, simd)},
      result_{scheme().block, flow::Field::Border::none},
      along_y_{sweep(grid.y, grid.world.communicator, along_y, scheme().block.z, scheme().block.y,
                     scheme().width, functions_.lanes, kept_y)},
      along_z_{sweep(grid.z, grid.world.communicator, along_z, scheme().block.y, scheme().block.z,
                     scheme().width, functions_.lanes, kept_z)},
      links_{product(link_quantities * along_y_.rows_together(), scheme().block.y.count + 2, scheme().width)},
      scratch_{product(row_numbers, functions_.lanes, scheme().width)} {
    start();
}

void Solver::start(void (*set)(flow::Field& field)) { set(field_); }

void Solver::fetch_borders() { flow::exchange_borders(field_, grid_); }

/// From the row before the block's first to that after its last.
flow::View<double> Solver::links(int z) {
    const std::ptrdiff_t row = std::ptrdiff_t{link_quantities} * scheme().width;
    const std::ptrdiff_t plane = (scheme().block.y.count + 2) * row;
    const auto first = static_cast<std::size_t>(z % along_y_.rows_together() * plane + row);
    return {
        .origin = links_.span().subspan(first).data(), .component = scheme().width, .row = row, .plane = 0};
}

void Solver::prepare_plane(int z) {
    const flow::Extent& y = scheme().block.y;
    functions_.link_y(scheme(), field_.view(), z, y.begin() - 1, links(z));
    functions_.link_y(scheme(), field_.view(), z, y.end(), links(z));
    for (int first = y.begin(); first < y.end(); first += functions_.lanes) {
        const flow::Rows rows{.z = z, .y_begin = first, .y_end = std::min(first + functions_.lanes, y.end())};
        flow_.right_hand_side(scheme().block, time_step_, field_.view(), forcing_.view(), rows,
                              result_.view());
        functions_.solve_x(scheme(), field_.view(), rows, result_.view(), links(z), scratch_.data());
    }
}

void Solver::sweep_planes() {
    along_y_.run([&](int z) { prepare_plane(z); },
                 [&](int z, int x, double* state, double* kept) {
                     functions_.forward_y(scheme(), links(z), z, x, result_.view(), state, kept);
                 },
                 [&](int z, int x, double* state, double* kept) {
                     functions_.backward_y(scheme(), z, x, result_.view(), state, kept);
                 });
}

void Solver::sweep_z() {
    along_z_.run([](int) {},
                 [&](int y, int x, double* state, double* kept) {
                     functions_.forward_z(scheme(), field_.view(), result_.view(), y, x, state, kept);
                 },
                 [&](int y, int x, double* state, double* kept) {
                     functions_.backward_z(scheme(), field_.view(), y, x, state, kept);
                 });
}

flow::Point Solver::residual_norms() {
    fetch_borders();
    const auto& [x, y, z] = scheme().block;
    for (int plane = z.begin(); plane < z.end(); ++plane) {
        const flow::Rows rows{.z = plane, .y_begin = y.begin(), .y_end = y.end()};
        flow_.right_hand_side(scheme().block, 1, field_.view(), forcing_.view(), rows, result_.view());
    }
    return flow::residual_norms(result_, grid_.world.communicator);
}

flow::Point Solver::error_norms() const { return flow::error_norms(field_, grid_.world.communicator); }

}  // namespace tare::npb::sp
