// SPDX-License-Identifier: Apache-2.0
// Grids cut in z, with one sweep over each and few messages.
#include <mpi.h>

#include <deque>
#include <memory>
#include <vector>

#include "npb/mg/halo.hpp"
#include "npb/mg/multigrid.hpp"
#include "npb/mg/sweep.hpp"

namespace tare::npb::mg {

namespace {

/// What a sweep over a level needs.
struct SweptLevel {
    /// `neighbours` have the planes before and after this rank's.
    SweptLevel(const Grids& grids, Level& level, const World& neighbours)
        : solution{neighbours, level.solution, *level.team},
          right_side{neighbours, level.right_side, *level.team},
          sweep{grids.functions, grids.smoother, tiles_for(level.block.edge, level.team->threads()),
                level.solution.planes(), *level.team} {}

    PlaneHalo solution;
    PlaneHalo right_side;
    Sweep sweep;
};

class PlanePasses final : public Passes {
  public:
    PlanePasses(Grids& grids, int finest_edge) : grids_{&grids}, cut_{finest_edge, grids.active} {
        grids.operators = grids.functions.periodic;
        for (int edge = coarsest_edge; edge <= finest_edge; edge *= 2) {
            const bool is_finest = edge == finest_edge;
            Level& level = grids.add_level(cut_.block(edge), is_finest ? solution_halo : coarse_solution_halo,
                                           is_finest ? right_side_halo : coarse_right_side_halo);
            level.planes_of_finer = cut_.planes_of_finer(edge);
            swept_.emplace_back(grids, level, neighbours(edge));
        }
    }

    void share_right_side(std::size_t level) override {
        grids_->times.time(Part::borders, [&] {
            if (level == grids_->finest()) {
                // A new start: the solution's halo may still be on its way.
                swept_[level].solution.finish();
            }
            if (grids_->levels[level].block.edge == cut_.whole_edge() && grids_->active.ranks > 1) {
                gather(grids_->levels[level]);
            }
            swept_[level].right_side.exchange();
        });
    }

    void share_solution(std::size_t level) override {
        grids_->times.time(Part::borders, [&] { swept_[level].solution.exchange(); });
    }

    void improve(std::size_t level) override {
        static_cast<void>(grids_->time(level, [&] { return sweep(level, {.improves = true}); }));
    }

    void work_on_finest(const FinestWork& work) override {
        const std::size_t finest = grids_->finest();
        PlaneHalo& planes = swept_[finest].solution;
        grids_->times.time(Part::borders, [&] { planes.finish(); });
        sum_of_squares_ = grids_->time(finest, [&] {
            return sweep(finest, {.improves = work.improves,
                                  .adds = true,
                                  .restricts = work.restricts,
                                  .measures = work.measures});
        });
        // Only the next sweep needs it: it travels while the coarser grids are worked on.
        if (work.restricts) {
            grids_->times.time(Part::borders, [&] { planes.start(); });
        }
    }

    double norm() override { return grids_->norm_of(sum_of_squares_); }

  private:
    /// Whole grids have no neighbours but themselves.
    [[nodiscard]] World neighbours(int edge) const {
        return cut_.is_whole(edge) ? World{.communicator = MPI_COMM_SELF} : grids_->active;
    }

    double sweep(std::size_t level, const SweepOrder& order) {
        Level& here = grids_->levels[level];
        Level& coarser = grids_->levels[level - 1];
        return swept_[level].sweep.run({.solution = here.solution.grid(),
                                        .right_side = here.right_side.grid(),
                                        .planes = here.solution.planes(),
                                        .correction = coarser.under_finer(coarser.solution),
                                        .restricted = coarser.under_finer(coarser.right_side)},
                                       order);
    }

    /// Every rank gets the right side of the finest whole grid from all that have made planes of it.
    void gather(Level& whole) const {
        std::vector<int> counts;
        std::vector<int> starts;
        for (int rank = 0; rank < grids_->active.ranks; ++rank) {
            const Share<int> planes = cut_.planes(whole.block.edge, rank);
            counts.push_back(planes.count * whole.right_side.plane_size());
            starts.push_back(planes.first * whole.right_side.plane_size());
        }
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, whole.right_side.grid().origin, counts.data(),
                       starts.data(), MPI_DOUBLE, grids_->active.communicator);
    }

    Grids* grids_;
    PlaneCut cut_;
    /// As `Grids::levels`.
    std::deque<SweptLevel> swept_;
    /// Of the last new residual.
    double sum_of_squares_ = 0;
};

}  // namespace

std::unique_ptr<Passes> plane_passes(Grids& grids, int finest_edge) {
    return std::make_unique<PlanePasses>(grids, finest_edge);
}

}  // namespace tare::npb::mg
