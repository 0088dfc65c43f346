// SPDX-License-Identifier: Apache-2.0
// V-cycles (NAS-95-020, section 2.4), the grids they go through, and how a grid is worked on.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "npb/common/arguments.hpp"
#include "npb/common/simd.hpp"
#include "npb/common/team.hpp"
#include "npb/common/timing.hpp"
#include "npb/common/world.hpp"
#include "npb/mg/field.hpp"
#include "npb/mg/layout.hpp"
#include "npb/mg/operators.hpp"

namespace tare::npb::mg {

constexpr int coarsest_edge = 2;

/// The parts of the timed region.
enum class Part { finest, coarser, borders, reduce };
using Times = Phases<Part, 4>;
[[nodiscard]] inline Times no_times() { return Times{{"finest", "coarser", "borders", "reduce"}}; }

/// One grid of the hierarchy in this rank.
struct Level {
    Block block;
    /// The block's planes on which this rank's planes of the next finer grid lie.
    Share<int> planes_of_finer;
    /// The threads that work on this grid.
    Team* team;
    /// u on the finest grid; z, which approximates A^-1 r, on the others.
    Field solution;
    /// v on the finest grid, r on the others.
    Field right_side;

    /// A field of this level, its planes counted from the first on which a finer one lies.
    [[nodiscard]] Grid under_finer(Field& field) const {
        return field.grid().from(planes_of_finer.first - block.points(z_axis).first);
    }
};

/// All grids, and the operators on one or two of them that any way of working on them uses.
struct Grids {
    Grids(const Functions& kernels, const Weights& weights, const World& ranks, Team& threads)
        : functions{kernels}, smoother{weights}, active{ranks}, team{&threads} {}

    Functions functions;
    /// On the fields' rows.
    RowOperators operators{};
    Weights smoother;
    World active;
    Team* team;
    /// Coarsest first.
    std::deque<Level> levels;
    Times times = no_times();
    /// For grids so coarse that sharing them out would cost more than it saves.
    Team alone{1};

    [[nodiscard]] std::size_t finest() const { return levels.size() - 1; }
    /// The next finer grid. Its `planes_of_finer` are all of the block's.
    Level& add_level(const Block& block, const Halo& of_solution, const Halo& of_right_side);

    using AddOperator = decltype(RowOperators::add_without_faces);
    /// output = base + operator(field), in all own points of a level.
    void add_operator(std::size_t level, AddOperator add, const Weights& weights, Field& field, Field& base,
                      Field& output);
    /// solution += S residual.
    void smooth(std::size_t level, Field& residual);
    /// A level's right side, from the residual of the next finer one.
    void restrict_to(std::size_t level, Field& finer_residual);
    /// The root of the mean of all ranks' squares.
    [[nodiscard]] double norm_of(double own_sum_of_squares);

    template <typename Work>
    decltype(auto) time(std::size_t level, const Work& work) {
        return times.time(level == finest() ? Part::finest : Part::coarser, work);
    }
};

/// What is done on the finest grid.
struct FinestWork {
    /// Corrects the solution by the coarser grid's, then smooths it once.
    bool improves = false;
    /// Restricts the new residual.
    bool restricts = false;
    /// Prepares its norm.
    bool measures = false;
};

/// How the grids are cut among the ranks, and what is done in one pass over one of them.
class Passes {
  public:
    Passes() = default;
    Passes(const Passes&) = delete;
    Passes& operator=(const Passes&) = delete;
    Passes(Passes&&) = delete;
    Passes& operator=(Passes&&) = delete;
    virtual ~Passes() = default;

    /// Fill the halo of a level's field.
    virtual void share_right_side(std::size_t level) = 0;
    virtual void share_solution(std::size_t level) = 0;
    /// On a grid between the coarsest and the finest: z = Q z' from the coarser one, then z += S (r - A z).
    virtual void improve(std::size_t level) = 0;
    /// The same on the finest grid, then the new residual; its restriction misses its halo.
    virtual void work_on_finest(const FinestWork& work) = 0;
    /// Of the new residual that was measured.
    [[nodiscard]] virtual double norm() = 0;
};

/// Grids cut in z alone, one sweep over each: Tare's own messages. Adds the levels.
[[nodiscard]] std::unique_ptr<Passes> plane_passes(Grids& grids, int finest_edge);
/// Grids cut along up to three axes, one pass for each operator: the reference's messages. Adds the levels.
[[nodiscard]] std::unique_ptr<Passes> block_passes(Grids& grids, int finest_edge);

/// Solves A u = v on the finest grid by V-cycles. After each, the new residual already stands on the next
/// coarser grid, where the next V-cycle begins.
class Multigrid {
  public:
    /// `active` has as many ranks as `active_ranks` gives. `team` works on the larger grids.
    Multigrid(const Functions& functions, const Weights& smoother, Messages messages, int finest_edge,
              const World& active, Team& team);

    /// Ranks of `world` that have points of the finest grid; the others have nothing to do.
    [[nodiscard]] static int active_ranks(Messages messages, int finest_edge, const World& world);

    /// v, to be filled in this rank's points; `start_from_zero` follows.
    [[nodiscard]] Field& right_side() { return grids_.levels.back().right_side; }
    [[nodiscard]] Field& solution() { return grids_.levels.back().solution; }

    /// u = 0, and times nothing so far.
    void start_from_zero();
    /// The first residual v - A u. The root of the mean of its squares.
    double first_residual();
    /// One V-cycle and the residual after it.
    void iterate();
    /// The same, for the last time. The residual's norm.
    double iterate_last();

    [[nodiscard]] const Times& times() const { return grids_.times; }

  private:
    void descend();
    void smooth_coarsest();
    void ascend();

    Grids grids_;
    std::unique_ptr<Passes> passes_;
};

}  // namespace tare::npb::mg
