// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "npb/common/team.hpp"
#include "npb/common/timing.hpp"
#include "npb/common/world.hpp"
#include "npb/mg/layout.hpp"
#include "npb/mg/level.hpp"

namespace tare::npb::mg {

constexpr int coarsest_edge = 2;
/// Grids up to this edge are worked on by one thread.
constexpr int largest_edge_of_one_thread = 32;

/// The parts of the timed region.
enum class Part { finest, coarser, borders, reduce };
using Times = Phases<Part, 4>;
[[nodiscard]] inline Times no_times() { return Times{{"finest", "coarser", "borders", "reduce"}}; }

/// Solves A u = v on the finest grid by V-cycles (NAS-95-020, section 2.4). After each, the new residual
/// already stands on the next coarser grid, where the next V-cycle begins.
class Multigrid {
  public:
    Multigrid(const Functions& functions, const Weights& smoother, const Layout& layout, const World& active,
              Team& team);

    /// v, to be filled in this rank's planes; `set_zero` follows.
    [[nodiscard]] Field& right_side() { return levels_.back().right_side; }
    [[nodiscard]] Field& solution() { return levels_.back().solution; }

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
    void descend();
    void ascend();
    void smooth_coarsest();
    void restrict_from(std::size_t level);
    void share_right_side(Level& level);
    void gather(Level& level) const;
    double sweep(std::size_t level, const SweepOrder& order);
    double finest_sweep(const SweepOrder& order);
    [[nodiscard]] double norm(double own_sum_of_squares);

    Functions functions_;
    Weights smoother_;
    Layout layout_;
    World active_;
    Team* team_;
    /// For grids so coarse that sharing them out would cost more than it saves.
    Team alone_{1};
    /// Coarsest first.
    std::deque<Level> levels_;
    Times times_ = no_times();
};

}  // namespace tare::npb::mg
