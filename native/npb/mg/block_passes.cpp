// SPDX-License-Identifier: Apache-2.0
// Grids cut along up to three axes, with the messages of the reference: a halo of one point, one pass over
// the grid for each operator and an exchange after it (NAS-95-020, section 2.4). An operator whose result
// needs no halo sends none.
#include <mpi.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "npb/mg/halo.hpp"
#include "npb/mg/multigrid.hpp"

namespace tare::npb::mg {

namespace {

constexpr Halo one_point{.below = 1, .above = 1, .beside = 1};

class BlockPasses final : public Passes {
  public:
    BlockPasses(Grids& grids, int finest_edge)
        : grids_{&grids},
          cut_{grids.active},
          residual_{cut_.block(finest_edge), one_point},
          halo_{grids.active, cut_, residual_.block()} {
        grids.operators = grids.functions.block;
        for (int edge = coarsest_edge; edge <= finest_edge; edge *= 2) {
            grids.add_level(cut_.block(edge), one_point, one_point);
        }
    }

    void share_right_side(std::size_t level) override { exchange(grids_->levels[level].right_side); }
    void share_solution(std::size_t level) override { exchange(grids_->levels[level].solution); }

    void improve(std::size_t level) override {
        correct(level);
        take_residual(level);
        grids_->smooth(level, residual(level));
    }

    void work_on_finest(const FinestWork& work) override {
        const std::size_t finest = grids_->finest();
        if (work.improves) {
            improve(finest);
            share_solution(finest);
        }
        take_residual(finest);
        if (work.restricts) {
            grids_->restrict_to(finest - 1, residual_);
        }
    }

    double norm() override {
        std::vector<double> largest_of(static_cast<std::size_t>(grids_->team->threads()));
        const double sum = grids_->time(grids_->finest(), [&] {
            return grids_->team->sum(
                [&](int thread) { return measure(thread, largest_of[static_cast<std::size_t>(thread)]); });
        });
        const double norm = grids_->norm_of(sum);
        // The reference prints the largest residual too, and every run of it pays for that.
        double largest = std::ranges::max(largest_of);
        grids_->times.time(Part::reduce, [&] {
            MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, grids_->active.communicator);
        });
        return norm;
    }

  private:
    void exchange(Field& field) {
        grids_->times.time(Part::borders, [&] { halo_.exchange(field); });
    }

    /// On the coarser grids r - A z takes the place of r.
    [[nodiscard]] Field& residual(std::size_t level) {
        return level == grids_->finest() ? residual_ : grids_->levels[level].right_side;
    }

    void take_residual(std::size_t level) {
        Level& here = grids_->levels[level];
        grids_->add_operator(level, grids_->operators.add_without_faces, minus_laplacian, here.solution,
                             here.right_side, residual(level));
        exchange(residual(level));
    }

    /// The solution and its halo by the coarser grid's solution and halo; below the finest grid there was
    /// none before.
    void correct(std::size_t level) {
        Level& here = grids_->levels[level];
        Level& coarser = grids_->levels[level - 1];
        if (!coarser.block.is_empty()) {
            grids_->time(level, [&] {
                prolong(
                    level == grids_->finest() ? grids_->operators.add_prolonged : grids_->operators.prolong,
                    coarser.solution.grid(), here);
            });
        }
        grids_->times.time(Part::borders, [&] { halo_.complete(here.solution, coarser.block); });
    }

    static void prolong(decltype(RowOperators::prolong) to_row, const Grid& coarse, Level& here) {
        const Grid fine = here.solution.grid();
        const auto with_halo = [&](Axis axis) {
            return Share<int>{.first = -1, .count = here.block.count(axis) + 2};
        };
        each_row(*here.team, with_halo(z_axis), with_halo(y_axis), [&](int plane, int row) {
            to_row(coarse_rows_around(coarse, plane, row), coarse.points, fine.row(plane, row), fine.points);
        });
    }

    /// The sum of squares of the thread's part of the residual, and its largest absolute value.
    double measure(int thread, double& largest) {
        const Grid grid = residual_.grid();
        const Share<int> planes = grids_->team->part(thread, residual_.planes());
        double sum = 0;
        for (int plane = planes.first; plane < planes.end(); ++plane) {
            for (int row = 0; row < residual_.rows(); ++row) {
                sum += grids_->functions.sum_of_squares(grid.row(plane, row), grid.points);
                largest = std::max(largest, grids_->functions.largest(grid.row(plane, row), grid.points));
            }
        }
        return sum;
    }

    Grids* grids_;
    BlockCut cut_;
    /// Of the finest grid.
    Field residual_;
    BlockHalo halo_;
};

}  // namespace

std::unique_ptr<Passes> block_passes(Grids& grids, int finest_edge) {
    return std::make_unique<BlockPasses>(grids, finest_edge);
}

}  // namespace tare::npb::mg
