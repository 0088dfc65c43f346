// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/block_multigrid.hpp"

#include <mpi.h>

#include <cmath>

#include "npb/mg/classes.hpp"

namespace tare::npb::mg {

namespace {

constexpr int coarsest_edge = 2;
/// Grids up to this edge are worked on by one thread.
constexpr int largest_edge_of_one_thread = 32;

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

/// Where a block's places lie on the coarser grid's: place p of the fine one between the coarse places (p +
/// odd) / 2 and (p + odd + 1) / 2, both moved by `offset`.
struct Under {
    int odd;
    int offset;

    Under(const Block& fine, const Block& coarse, Axis axis)
        : odd{fine.span(axis).points.first & 1},
          offset{(fine.span(axis).points.first >> 1) - coarse.span(axis).points.first} {}

    [[nodiscard]] int before(int place) const { return ((place + odd) >> 1) + offset; }
    [[nodiscard]] int after(int place) const { return ((place + odd + 1) >> 1) + offset; }
};

using Prolong = void (*)(const double* const (&coarse)[4], double* fine, int first, int end);

/// The fine points with their ghosts, from the coarse ones with theirs.
void prolong(Team& team, Prolong work, BlockField& coarse, BlockField& fine) {
    const Block& block = fine.block();
    const Under z{block, coarse.block(), z_axis};
    const Under y{block, coarse.block(), y_axis};
    const Under x{block, coarse.block(), x_axis};
    const auto prolong_row = [&](int plane, int row) {
        const double* const around[4] = {coarse.row(z.before(plane), y.before(row)) + x.offset,
                                         coarse.row(z.before(plane), y.after(row)) + x.offset,
                                         coarse.row(z.after(plane), y.before(row)) + x.offset,
                                         coarse.row(z.after(plane), y.after(row)) + x.offset};
        work(around, fine.row(plane, row) - x.odd, x.odd - 1, x.odd + block.count(x_axis) + 1);
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
    times_.time(Part::borders, [&] { ghosts_.give_to_finer(coarser, here.block); });
    const bool adds = level == levels_.size() - 1;
    time_level(level, [&] {
        prolong(team_of(level), adds ? functions_.blocks.add_prolonged : functions_.blocks.prolong, coarser,
                here.solution);
    });
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
    BlockField& residual = levels_.back().residual;
    const Block& block = residual.block();
    double sum = times_.time(Part::finest, [&] {
        return team_->sum([&](int thread) {
            const Share<int> planes = team_->part(thread, block.count(z_axis));
            double own = 0;
            for (int plane = planes.first; plane < planes.end(); ++plane) {
                for (int row = 0; row < block.count(y_axis); ++row) {
                    own += functions_.sum_of_squares(residual.row(plane, row), block.count(x_axis));
                }
            }
            return own;
        });
    });
    times_.time(Part::reduce,
                [&] { MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, active_.communicator); });
    return std::sqrt(sum / std::pow(block.edge(), 3));
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
