// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/block_multigrid.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "npb/mg/classes.hpp"

namespace tare::npb::mg {

namespace {

using AddOperator = void (*)(const StencilRow& row, const Weights& weights);

/// result = base + operator(field), in all own points.
void add_operator(Team& team, AddOperator add, const Weights& weights, BlockField& field, BlockField& base,
                  BlockField& result) {
    const Block& block = field.block();
    team.run([&](int thread) {
        const Share<int> planes = team.part(thread, block.count(z_axis));
        for (int plane = planes.first; plane < planes.end(); ++plane) {
            for (int row = 0; row < block.count(y_axis); ++row) {
                add({.around = rows_around(field, plane, row),
                     .base = base.row(plane, row),
                     .result = result.row(plane, row),
                     .length = block.count(x_axis)},
                    weights);
            }
        }
    });
}

using Prolong = void (*)(const double* const (&coarse)[4], double* fine, int first, int end);

/// The fine points with their ghosts, from the coarse ones with theirs.
void prolong(Team& team, Prolong work, BlockField& coarse, BlockField& fine) {
    const Block& block = fine.block();
    const auto prolong_row = [&](int plane, int row) {
        const int below = plane >> 1;
        const int above = (plane + 1) >> 1;
        const int before = row >> 1;
        const int after = (row + 1) >> 1;
        const double* const around[4] = {coarse.row(below, before), coarse.row(below, after),
                                         coarse.row(above, before), coarse.row(above, after)};
        work(around, fine.row(plane, row), -1, block.count(x_axis) + 1);
    };
    team.run([&](int thread) {
        const Share<int> planes = team.part(thread, block.count(z_axis) + 2);
        for (int plane = planes.first - 1; plane < planes.end() - 1; ++plane) {
            for (int row = -1; row <= block.count(y_axis); ++row) {
                prolong_row(plane, row);
            }
        }
    });
}

}  // namespace

BlockMultigrid::BlockMultigrid(const Functions& functions, const Weights& smoother, int finest_edge,
                               const World& active, Team& team)
    : functions_{functions},
      smoother_{smoother},
      active_{active},
      team_{&team},
      cut_{active},
      right_side_{Block{cut_, finest_edge}},
      ghosts_{active, cut_, right_side_.block()} {
    for (int edge = coarsest_edge; edge <= finest_edge; edge *= 2) {
        levels_.emplace_back(Block{cut_, edge});
    }
}

void BlockMultigrid::start_from_zero() {
    ghosts_.exchange(right_side_);
    solution().set_zero(*team_);
    times_.clear();
}

double BlockMultigrid::first_residual() {
    take_residual(levels_.size() - 1);
    return norm();
}

double BlockMultigrid::iterate_last() {
    iterate();
    return norm();
}

void BlockMultigrid::iterate() {
    const std::size_t finest = levels_.size() - 1;
    for (std::size_t level = finest; level > 0; --level) {
        restrict_from(level);
    }
    smooth_coarsest();
    for (std::size_t level = 1; level <= finest; ++level) {
        ascend_to(level);
    }
    take_residual(finest);
}

/// The residual of the next coarser grid.
void BlockMultigrid::restrict_from(std::size_t level) {
    BlockField& fine = levels_[level].residual;
    BlockField& coarse = levels_[level - 1].residual;
    const Block& block = coarse.block();
    if (block.is_empty()) {
        return;
    }
    Team& team = team_of(level);
    time_level(level - 1, [&] {
        team.run([&](int thread) {
            const Share<int> planes = team.part(thread, block.count(z_axis));
            for (int plane = planes.first; plane < planes.end(); ++plane) {
                for (int row = 0; row < block.count(y_axis); ++row) {
                    functions_.blocks.restrict_to(coarse.row(plane, row),
                                                  rows_around(fine, 2 * plane, 2 * row), block.count(x_axis));
                }
            }
        });
    });
    exchange(coarse);
}

/// z = S r, from z = 0.
void BlockMultigrid::smooth_coarsest() {
    if (!levels_.front().block.is_empty()) {
        levels_.front().solution.set_zero(alone_);
        smooth(0);
    }
}

void BlockMultigrid::ascend_to(std::size_t level) {
    if (!levels_[level].block.is_empty()) {
        correct(level);
        take_residual(level);
        smooth(level);
    }
}

/// By the coarser grid's solution; below the finest grid there was none before.
void BlockMultigrid::correct(std::size_t level) {
    BlockLevel& here = levels_[level];
    BlockField& coarser = levels_[level - 1].solution;
    if (!coarser.block().is_empty()) {
        const bool adds = level == levels_.size() - 1;
        time_level(level, [&] {
            prolong(team_of(level), adds ? functions_.blocks.add_prolonged : functions_.blocks.prolong,
                    coarser, here.solution);
        });
    }
    times_.time(Part::borders, [&] { ghosts_.complete(here.solution, coarser.block()); });
}

/// Of the finest grid v - A u; of the others r - A z in the place of r.
void BlockMultigrid::take_residual(std::size_t level) {
    BlockLevel& here = levels_[level];
    BlockField& base = level == levels_.size() - 1 ? right_side_ : here.residual;
    time_level(level, [&] {
        add_operator(team_of(level), functions_.blocks.add_without_faces, minus_laplacian, here.solution,
                     base, here.residual);
    });
    exchange(here.residual);
}

void BlockMultigrid::smooth(std::size_t level) {
    BlockLevel& here = levels_[level];
    time_level(level, [&] {
        add_operator(team_of(level), functions_.blocks.add_without_corners, smoother_, here.residual,
                     here.solution, here.solution);
    });
    exchange(here.solution);
}

double BlockMultigrid::norm() {
    double sum = times_.time(Part::finest, [&] { return sum_of_squares(); });
    // The reference prints the largest residual too, and every run of it pays for that.
    double largest = times_.time(Part::finest, [&] { return largest_residual(); });
    times_.time(Part::reduce, [&] {
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, active_.communicator);
        MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, active_.communicator);
    });
    return std::sqrt(sum / std::pow(right_side_.block().edge(), 3));
}

double BlockMultigrid::sum_of_squares() {
    return team_->sum([&](int thread) {
        double sum = 0;
        each_residual_row(
            thread, [&](const double* row, int length) { sum += functions_.sum_of_squares(row, length); });
        return sum;
    });
}

double BlockMultigrid::largest_residual() {
    std::vector<double> of_threads(static_cast<std::size_t>(team_->threads()));
    team_->run([&](int thread) {
        double& largest = of_threads[static_cast<std::size_t>(thread)];
        each_residual_row(thread, [&](const double* row, int length) {
            largest = std::max(largest, functions_.blocks.largest(row, length));
        });
    });
    return std::ranges::max(of_threads);
}

/// Of the finest grid, the thread's share.
template <typename Work>
void BlockMultigrid::each_residual_row(int thread, const Work& work) {
    BlockField& residual = levels_.back().residual;
    const Block& block = residual.block();
    const Share<int> planes = team_->part(thread, block.count(z_axis));
    for (int plane = planes.first; plane < planes.end(); ++plane) {
        for (int row = 0; row < block.count(y_axis); ++row) {
            work(residual.row(plane, row), block.count(x_axis));
        }
    }
}

Team& BlockMultigrid::team_of(std::size_t level) {
    return levels_[level].block.edge() > largest_edge_of_one_thread ? *team_ : alone_;
}

template <typename Work>
void BlockMultigrid::time_level(std::size_t level, const Work& work) {
    times_.time(level == levels_.size() - 1 ? Part::finest : Part::coarser, work);
}

void BlockMultigrid::exchange(BlockField& field) {
    times_.time(Part::borders, [&] { ghosts_.exchange(field); });
}

}  // namespace tare::npb::mg
