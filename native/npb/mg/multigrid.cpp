// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/multigrid.hpp"

#include <mpi.h>

#include <cmath>

namespace tare::npb::mg {

namespace {

/// Grids up to this edge are worked on by one thread.
constexpr int largest_edge_of_one_thread = 32;

}  // namespace

Level& Grids::add_level(const Block& block, const Halo& of_solution, const Halo& of_right_side) {
    return levels.emplace_back(Level{.block = block,
                                     .planes_of_finer = block.points(z_axis),
                                     .team = block.edge > largest_edge_of_one_thread ? team : &alone,
                                     .solution = Field{block, of_solution},
                                     .right_side = Field{block, of_right_side}});
}

void Grids::add_operator(std::size_t level, AddOperator add, const Weights& weights, Field& field,
                         Field& base, Field& output) {
    const Grid from = field.grid();
    const Grid onto = base.grid();
    const Grid into = output.grid();
    time(level, [&] {
        each_row(*levels[level].team, {.count = field.planes()}, {.count = field.rows()},
                 [&](int plane, int row) {
                     add({.around = rows_around(from, plane, row),
                          .base = onto.row(plane, row),
                          .result = into.row(plane, row),
                          .length = into.points},
                         weights);
                 });
    });
}

void Grids::smooth(std::size_t level, Field& residual) {
    Field& solution = levels[level].solution;
    add_operator(level, operators.add_without_corners, smoother, residual, solution, solution);
}

void Grids::restrict_to(std::size_t level, Field& finer_residual) {
    Level& here = levels[level];
    if (here.block.is_empty()) {
        return;
    }
    const Grid coarse = here.under_finer(here.right_side);
    const Grid fine = finer_residual.grid();
    time(level, [&] {
        each_row(*levels[level + 1].team, {.count = here.planes_of_finer.count},
                 {.count = here.right_side.rows()}, [&](int plane, int row) {
                     operators.restrict_to(coarse.row(plane, row), coarse.points,
                                           rows_around(fine, 2 * plane, 2 * row), fine.points);
                 });
    });
}

double Grids::norm_of(double own_sum_of_squares) {
    double sum = own_sum_of_squares;
    times.time(Part::reduce,
               [&] { MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, active.communicator); });
    return std::sqrt(sum / std::pow(levels.back().block.edge, 3));
}

Multigrid::Multigrid(const Functions& functions, const Weights& smoother, Messages messages, int finest_edge,
                     const World& active, Team& team)
    : grids_{functions, smoother, active, team},
      passes_{messages == Messages::reference ? block_passes(grids_, finest_edge)
                                              : plane_passes(grids_, finest_edge)} {}

int Multigrid::active_ranks(Messages messages, int finest_edge, const World& world) {
    return messages == Messages::reference ? BlockCut::ranks_of(finest_edge, world.ranks)
                                           : PlaneCut{finest_edge, world}.active_ranks();
}

void Multigrid::start_from_zero() {
    passes_->share_right_side(grids_.finest());
    solution().set_zero(*grids_.team);
    grids_.times.clear();
}

double Multigrid::first_residual() {
    passes_->work_on_finest({.restricts = true, .measures = true});
    return passes_->norm();
}

void Multigrid::iterate() {
    descend();
    smooth_coarsest();
    ascend();
    passes_->work_on_finest({.improves = true, .restricts = true});
}

double Multigrid::iterate_last() {
    descend();
    smooth_coarsest();
    ascend();
    passes_->work_on_finest({.improves = true, .measures = true});
    return passes_->norm();
}

void Multigrid::descend() {
    for (std::size_t level = grids_.finest(); level-- > 0;) {
        if (grids_.levels[level].block.is_empty()) {
            return;
        }
        if (level + 1 < grids_.finest()) {
            grids_.restrict_to(level, grids_.levels[level + 1].right_side);
        }
        passes_->share_right_side(level);
    }
}

/// z = S r, from z = 0.
void Multigrid::smooth_coarsest() {
    Level& coarsest = grids_.levels.front();
    if (!coarsest.block.is_empty()) {
        coarsest.solution.set_zero(*coarsest.team);
        grids_.smooth(0, coarsest.right_side);
        passes_->share_solution(0);
    }
}

void Multigrid::ascend() {
    for (std::size_t level = 1; level < grids_.finest(); ++level) {
        if (!grids_.levels[level].block.is_empty()) {
            passes_->improve(level);
            passes_->share_solution(level);
        }
    }
}

}  // namespace tare::npb::mg
