// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/multigrid.hpp"

#include <mpi.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace tare::npb::mg {

namespace {

/// The planes of a coarser grid that lie in a finer grid's, counted from its first.
Grid under(Field& coarser, const Level& level) {
    return coarser.grid().from(level.own.first - level.planes.first);
}

}  // namespace

Multigrid::Multigrid(const Functions& functions, const Weights& smoother, const Layout& layout,
                     const World& active, Team& team)
    : functions_{functions}, smoother_{smoother}, layout_{layout}, active_{active}, team_{&team} {
    for (int edge = coarsest_edge; edge <= layout.finest_edge(); edge *= 2) {
        levels_.emplace_back(functions, smoother, layout, active,
                             edge > largest_edge_of_one_thread ? team : alone_, edge);
    }
}

void Multigrid::start_from_zero() {
    Level& finest = levels_.back();
    finest.solution_borders.finish();
    finest.right_side_borders.exchange();
    finest.solution.set_zero(*finest.team);
    times_.clear();
}

double Multigrid::first_residual() { return norm(finest_sweep({.restricts = true, .measures = true})); }

void Multigrid::iterate() {
    descend();
    ascend();
    static_cast<void>(finest_sweep({.improves = true, .adds = true, .restricts = true}));
}

double Multigrid::iterate_last() {
    descend();
    ascend();
    return norm(finest_sweep({.improves = true, .adds = true, .measures = true}));
}

void Multigrid::descend() {
    for (std::size_t level = levels_.size() - 2; level > 0; --level) {
        share_right_side(levels_[level]);
        times_.time(Part::coarser, [&] { restrict_from(level); });
    }
    share_right_side(levels_.front());
}

void Multigrid::ascend() {
    times_.time(Part::coarser, [&] { smooth_coarsest(); });
    for (std::size_t level = 0;; ++level) {
        times_.time(Part::borders, [&] { levels_[level].solution_borders.exchange(); });
        if (level == levels_.size() - 2) {
            return;
        }
        times_.time(Part::coarser, [&] { return sweep(level + 1, {.improves = true}); });
    }
}

/// z = S r, on two planes of two rows.
void Multigrid::smooth_coarsest() {
    Level& level = levels_.front();
    level.solution.set_zero(*level.team);
    const Grid r = level.right_side.grid();
    const Grid z = level.solution.grid();
    for (int place = 0; place < coarsest_edge * coarsest_edge; ++place) {
        const int plane = place / coarsest_edge;
        const int row = place % coarsest_edge;
        functions_.add_without_corners.to_row({.around = rows_around(r, plane, row),
                                               .base = z.row(plane, row),
                                               .result = z.row(plane, row),
                                               .length = z.length},
                                              smoother_);
    }
}

/// The right side of the next coarser grid.
void Multigrid::restrict_from(std::size_t level) {
    Level& finer = levels_[level];
    const Grid fine = finer.right_side.grid();
    const Grid coarse = under(levels_[level - 1].right_side, levels_[level - 1]);
    finer.team->run([&](int thread) {
        const Share<int> rows = finer.team->part(thread, coarse.edge);
        for (int plane = 0; plane < finer.planes.count / 2; ++plane) {
            for (int row = rows.first; row < rows.end(); ++row) {
                functions_.restrict_to(coarse.row(plane, row), coarse.length,
                                       rows_around(fine, 2 * plane, 2 * row), fine.length);
            }
        }
    });
}

/// Borders, or of the finest whole grid all that other ranks have made of it.
void Multigrid::share_right_side(Level& level) {
    times_.time(Part::borders, [&] {
        if (level.edge == layout_.whole_edge() && active_.ranks > 1) {
            gather(level);
        }
        level.right_side_borders.exchange();
    });
}

void Multigrid::gather(Level& level) const {
    std::vector<int> counts;
    std::vector<int> starts;
    const auto plane_size = static_cast<int>(level.right_side.plane_size());
    for (int rank = 0; rank < active_.ranks; ++rank) {
        const Share<int> planes = layout_.planes(level.edge, rank);
        counts.push_back(planes.count * plane_size);
        starts.push_back(planes.first * plane_size);
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, level.right_side.grid().origin, counts.data(),
                   starts.data(), MPI_DOUBLE, active_.communicator);
}

double Multigrid::sweep(std::size_t level, const SweepOrder& order) {
    Level& coarser = levels_[level - 1];
    Level& here = levels_[level];
    return here.sweep.run({.solution = here.solution.grid(),
                           .right_side = here.right_side.grid(),
                           .planes = here.planes.count,
                           .correction = under(coarser.solution, coarser),
                           .restricted = under(coarser.right_side, coarser)},
                          order);
}

double Multigrid::finest_sweep(const SweepOrder& order) {
    Borders& borders = levels_.back().solution_borders;
    times_.time(Part::borders, [&] { borders.finish(); });
    const double sum = times_.time(Part::finest, [&] { return sweep(levels_.size() - 1, order); });
    // Only the next sweep needs them: they travel while the coarser grids are worked on.
    if (order.restricts) {
        times_.time(Part::borders, [&] { borders.start(); });
    }
    return sum;
}

double Multigrid::norm(double own_sum_of_squares) {
    double sum = own_sum_of_squares;
    times_.time(Part::reduce,
                [&] { MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, active_.communicator); });
    return std::sqrt(sum / std::pow(layout_.finest_edge(), 3));
}

}  // namespace tare::npb::mg
