// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>

#include "npb/common/team.hpp"
#include "npb/common/world.hpp"
#include "npb/mg/block.hpp"
#include "npb/mg/block_field.hpp"
#include "npb/mg/ghosts.hpp"
#include "npb/mg/multigrid.hpp"
#include "npb/mg/rows.hpp"

namespace tare::npb::mg {

/// One grid of the hierarchy in this rank's block.
struct BlockLevel {
    explicit BlockLevel(const Block& here) : block{here}, solution{here}, residual{here} {}

    Block block;
    /// u on the finest grid; z, which approximates A^-1 r, on the others.
    BlockField solution;
    BlockField residual;
};

/// The same V-cycles as `Multigrid`'s with the messages of the reference: grids cut along up to three axes,
/// ghosts of one point, one pass over the grid for each operator and an exchange of ghosts after it
/// (NAS-95-020, section 2.4). The operators that need no ghosts of their own result send none.
class BlockMultigrid {
  public:
    BlockMultigrid(const Functions& functions, const Weights& smoother, int finest_edge, const World& active,
                   Team& team);

    /// v, to be filled; `start_from_zero` follows.
    [[nodiscard]] BlockField& right_side() { return right_side_; }
    [[nodiscard]] BlockField& solution() { return levels_.back().solution; }

    /// u = 0, and times nothing so far.
    void start_from_zero();
    /// The first residual v - A u. The root of the mean of its squares.
    double first_residual();
    /// One V-cycle and the residual after it.
    void iterate();
    /// The same, for the last time. The residual's norm.
    double iterate_last();

    [[nodiscard]] const Times& times() const { return times_; }

  private:
    void restrict_from(std::size_t level);
    void smooth_coarsest();
    void ascend_to(std::size_t level);
    void correct(std::size_t level);
    void take_residual(std::size_t level);
    void smooth(std::size_t level);
    double norm();
    double sum_of_squares();
    double largest_residual();
    template <typename Work>
    void each_residual_row(int thread, const Work& work);

    [[nodiscard]] Team& team_of(std::size_t level);
    template <typename Work>
    void time_level(std::size_t level, const Work& work);
    void exchange(BlockField& field);

    Functions functions_;
    Weights smoother_;
    World active_;
    Team* team_;
    /// For grids so coarse that sharing them out would cost more than it saves.
    Team alone_{1};
    Cut cut_;
    /// Coarsest first.
    std::deque<BlockLevel> levels_;
    BlockField right_side_;
    Ghosts ghosts_;
    Times times_ = no_times();
};

}  // namespace tare::npb::mg
