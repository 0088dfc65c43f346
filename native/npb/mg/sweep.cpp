// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/sweep.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>

namespace tare::npb::mg {

void TileProgress::begin() {
    constexpr int before_all_planes = std::numeric_limits<int>::min();
    for (Progress& one : last_planes_) {
        one.set(before_all_planes);
    }
}

void TileProgress::wait_for(int tile, int plane) const {
    const Progress& last = last_planes_[static_cast<std::size_t>(tile)];
    wait_until([&] { return last.planes() >= plane; }, [] {});
}

TileSweep::TileSweep(const Functions& functions, const Weights& smoother, const Tiles& tiles, KeptPairs& kept,
                     TileProgress& progress)
    : functions_{functions},
      smoother_{smoother},
      progress_{&progress},
      length_{row_length(tiles.edge())},
      residual_{tiles.capacity(), length_, kept},
      new_residual_{tiles.capacity(), length_} {}

double TileSweep::run(const Tile& tile, const SweepGrids& grids, const SweepOrder& order) {
    begin(tile, grids, order);
    // Stage s is s planes behind; the last one has come to the last plane when stage 0 is 3 beyond it.
    for (int plane = -halo_.below; plane < grids.planes + new_residual_stage; ++plane) {
        // No stage reads planes further up than the tile before has then made ready.
        if (!tile.is_first()) {
            progress_->wait_for(tile.index - 1, plane);
        }
        step(plane);
        progress_->report(tile.index, plane);
    }
    return sum_of_squares_;
}

void TileSweep::begin(const Tile& tile, const SweepGrids& grids, const SweepOrder& order) {
    tile_ = tile;
    grids_ = grids;
    order_ = order;
    halo_ = order.goes_on() ? solution_halo : coarse_solution_halo;
    sum_of_squares_ = 0;
    residual_.begin(tile);
    new_residual_.begin(tile.new_residual_rows());
}

/// Each stage can do one plane fewer at either end than the stage before.
void TileSweep::step(int plane) {
    const auto has_part = [&](Stage stage) {
        const int behind = plane - stage;
        return behind >= stage - halo_.below && behind < grids_.planes + halo_.above - stage;
    };
    const auto do_stage = [&](Stage stage, void (TileSweep::*work)(int, Rows)) {
        if (order_.improves && has_part(stage)) {
            (this->*work)(plane - stage, tile_.rows(stage));
        }
    };
    do_stage(correct_stage, &TileSweep::correct);
    do_stage(residual_stage, &TileSweep::take_residual);
    do_stage(smooth_stage, &TileSweep::smooth);
    if (order_.goes_on() && has_part(new_residual_stage)) {
        go_on(plane - new_residual_stage);
    }
}

void TileSweep::correct(int plane, Rows rows) {
    const auto work = order_.adds ? functions_.periodic.add_prolonged : functions_.periodic.prolong;
    const Grid& coarse = grids_.correction;
    for (int row = rows.first; row < rows.end; ++row) {
        work(coarse_rows_around(coarse, plane, row), coarse.points, grids_.solution.row(plane, row), length_);
        fetch_right_side(plane, row);
    }
}

/// Ahead of the residual, which reads from too many places for the processor to foresee them all.
void TileSweep::fetch_right_side(int plane, int row) const {
    if (plane >= 0 && plane < grids_.planes) {
        const std::span<const double> values{grids_.right_side.row(plane, row),
                                             static_cast<std::size_t>(length_)};
        for (std::size_t place = 0; place < values.size(); place += buffer_alignment_byte / sizeof(double)) {
            __builtin_prefetch(&values[place], 0, 2);
        }
    }
}

void TileSweep::take_residual(int plane, Rows rows) {
    add_residual(plane, rows, residual_.row(plane, rows.first));
    residual_.exchange_pairs(plane);
}

void TileSweep::smooth(int plane, Rows rows) {
    double* const solution = grids_.solution.row(plane, rows.first);
    functions_.add_without_corners_to_rows({.below = residual_.row(plane - 1, rows.first - 1),
                                            .centre = residual_.row(plane, rows.first - 1),
                                            .above = residual_.row(plane + 1, rows.first - 1),
                                            .base = solution,
                                            .result = solution,
                                            .rows = rows.count(),
                                            .length = length_},
                                           smoother_);
}

void TileSweep::go_on(int plane) {
    const Rows rows = tile_.new_residual_rows();
    double* const result = new_residual_.row(plane, rows.first);
    add_residual(plane, rows, result);
    if (order_.measures && plane >= 0) {
        sum_of_squares_ += functions_.sum_of_squares(result + length_, (rows.count() - 1) * length_);
    }
    if (order_.restricts && plane > 0 && plane % 2 == 1) {
        restrict_planes(plane / 2);
    }
}

void TileSweep::restrict_planes(int coarse_plane) {
    const Rows coarse = tile_.coarse_rows();
    for (int row = coarse.first; row < coarse.end; ++row) {
        functions_.periodic.restrict_to(grids_.restricted.row(coarse_plane, row), grids_.restricted.points,
                                        rows_around(new_residual_, 2 * coarse_plane, 2 * row), length_);
    }
}

/// Rows whose neighbours lie around them in memory together, rows at the periodic border one by one.
void TileSweep::add_residual(int plane, Rows rows, double* result) {
    const Grid& u = grids_.solution;
    while (rows.count() > 0) {
        const int inside = rows.first & (tile_.edge - 1);
        const bool is_at_border = inside == 0 || inside == tile_.edge - 1;
        const int together = is_at_border ? 1 : std::min(rows.count(), tile_.edge - 1 - inside);
        const double* const base = grids_.right_side.row(plane, rows.first);
        if (is_at_border) {
            functions_.periodic.add_without_faces({.around = rows_around(u, plane, rows.first),
                                                   .base = base,
                                                   .result = result,
                                                   .length = length_},
                                                  minus_laplacian);
        } else {
            functions_.add_without_faces_to_rows({.below = u.row(plane - 1, rows.first - 1),
                                                  .centre = u.row(plane, rows.first - 1),
                                                  .above = u.row(plane + 1, rows.first - 1),
                                                  .base = base,
                                                  .result = result,
                                                  .rows = together,
                                                  .length = length_},
                                                 minus_laplacian);
        }
        rows.first += together;
        result += static_cast<std::ptrdiff_t>(together) * length_;
    }
}

Sweep::Sweep(const Functions& functions, const Weights& smoother, const Tiles& tiles, int planes, Team& team)
    : tiles_{tiles},
      team_{&team},
      kept_{row_length(tiles.edge()), -right_side_halo.below,
            planes + right_side_halo.below + right_side_halo.above},
      progress_{tiles.count()},
      sums_of_squares_(static_cast<std::size_t>(tiles.count())) {
    workers_.reserve(static_cast<std::size_t>(team.threads()));
    for (int thread = 0; thread < team.threads(); ++thread) {
        workers_.emplace_back(functions, smoother, tiles, kept_, progress_);
    }
}

double Sweep::run(const SweepGrids& grids, const SweepOrder& order) {
    progress_.begin();
    team_->run([&](int thread) {
        TileSweep& worker = workers_[static_cast<std::size_t>(thread)];
        for (int tile = thread; tile < tiles_.count(); tile += team_->threads()) {
            sums_of_squares_[static_cast<std::size_t>(tile)] = worker.run(tiles_.tile(tile), grids, order);
        }
    });
    return std::accumulate(sums_of_squares_.begin(), sums_of_squares_.end(), 0.0);
}

}  // namespace tare::npb::mg
