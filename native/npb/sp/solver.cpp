// SPDX-License-Identifier: Apache-2.0
#include "npb/sp/solver.hpp"

#include <cstddef>

namespace tare::npb::sp {

using flow::Axis;
using flow::RowInHand;

namespace {

std::size_t product(int first, int second, int third) {
    return static_cast<std::size_t>(first) * static_cast<std::size_t>(second) *
           static_cast<std::size_t>(third);
}

std::size_t numbers_of_scratch(const Scheme& scheme, const Functions& functions) {
    return product(row_numbers, functions.lanes, scheme.width);
}

/// A place is less work than in BT, and less is kept of it.
constexpr int worth_places = 512;

/// `kept` of each place of a line.
flow::LineNumbers numbers(int kept) {
    return {.forward = forward_state, .backward = backward_state, .kept = kept};
}

}  // namespace

Solver::Solver(const flow::ProcessGrid& grid, int edge, double time_step, Simd simd, Team& team)
    : time_step_{time_step},
      functions_{functions(simd)},
      fields_{grid, edge, simd, team},
      matrices_{fields_.block(), time_step},
      along_y_{flow::Sweep::along(Axis::y, grid, fields_.block(), functions_.lanes, worth_places,
                                  numbers(kept_y), team)},
      along_z_{flow::Sweep::along(Axis::z, grid, fields_.block(), functions_.lanes, worth_places,
                                  numbers(kept_z), team)},
      links_{product(link_quantities * along_y_.rows_together(), scheme().block.y.count + 2, scheme().width)},
      scratch_{static_cast<std::size_t>(team.threads()) * numbers_of_scratch(scheme(), functions_)} {
    start();
}

void Solver::step(Times& times) {
    times.time(Part::borders, [&] { fields_.exchange(); });
    times.time(Part::planes, [&] { sweep_planes(); });
    times.time(Part::z, [&] { sweep_z(); });
}

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
    const auto right_hand_side = fields_.right_hand_side(time_step_);
    const auto links_here = links(plane.slot);
    if (groups.has(0)) {
        functions_.link_y(scheme(), fields_.u().view(), z, y.begin() - 1, links_here);
        functions_.link_y(scheme(), fields_.u().view(), z, y.end(), links_here);
    }
    for (int group = groups.first; group < groups.end(); ++group) {
        const Share<int> one{.first = group, .count = 1};
        right_hand_side.set(z, one);
        functions_.solve_x(scheme(), fields_.u().view(), rows_of(y, z, one), fields_.right().view(),
                           links_here, scratch(plane.thread));
    }
}

void Solver::sweep_planes() {
    along_y_.run([&](const RowInHand& plane, const Share<int>& groups) { prepare_plane(plane, groups); },
                 [&](const RowInHand& plane, int x, double* state, double* kept) {
                     functions_.forward_y(scheme(), links(plane.slot), plane.row, x, fields_.right().view(),
                                          state, kept);
                 },
                 [&](const RowInHand& plane, int x, double* state, double* kept) {
                     functions_.backward_y(scheme(), plane.row, x, fields_.right().view(), state, kept);
                 });
}

void Solver::sweep_z() {
    along_z_.run([](const RowInHand& /*row*/, const Share<int>& /*groups*/) {},
                 [&](const RowInHand& row, int x, double* state, double* kept) {
                     functions_.forward_z(scheme(), fields_.u().view(), fields_.right().view(), row.row, x,
                                          state, kept);
                 },
                 [&](const RowInHand& row, int x, double* state, double* kept) {
                     functions_.backward_z(scheme(), fields_.u().view(), row.row, x, state, kept);
                 });
}

}  // namespace tare::npb::sp
