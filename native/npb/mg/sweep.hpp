// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/progress.hpp"
#include "npb/common/team.hpp"
#include "npb/mg/field.hpp"
#include "npb/mg/operators.hpp"
#include "npb/mg/tiles.hpp"

namespace tare::npb::mg {

/// What a sweep works on. `planes` are this rank's planes of the solution.
struct SweepGrids {
    Grid solution;
    Grid right_side;
    int planes = 0;
    /// The coarser grid's solution.
    Grid correction{};
    /// The coarser grid's right side, which the new residual gives.
    Grid restricted{};
};

/// What a sweep does.
struct SweepOrder {
    /// Corrects the solution by the coarser grid's, then smooths it once.
    bool improves = false;
    /// The correction is added to the solution; else it replaces it.
    bool adds = false;
    /// Works out the new residual and restricts it.
    bool restricts = false;
    /// Works out the new residual and sums its squares.
    bool measures = false;

    [[nodiscard]] constexpr bool goes_on() const { return restricts || measures; }
};

/// Planes of the neighbours that a sweep which goes on to the new residual reads of solution and right side.
/// It works on them as their owner does, so that no stage has to wait for another rank.
constexpr Halo solution_halo{.below = 4, .above = 3};
constexpr Halo right_side_halo{.below = 3, .above = 2};
/// The same for a sweep that doesn't go on; as far reaches what any sweep reads of the coarser solution.
constexpr Halo coarse_solution_halo{.below = 2, .above = 2};
constexpr Halo coarse_right_side_halo{.below = 1, .above = 1};

/// How far the tiles of a sweep have come, so that each can follow the one before it in another thread.
class TileProgress {
  public:
    explicit TileProgress(int tiles) : last_planes_(static_cast<std::size_t>(tiles)) { begin(); }

    /// No tile has begun. Not while threads work.
    void begin();
    /// The tile has done all that it does when its first stage is at `plane`.
    void report(int tile, int plane) { last_planes_[static_cast<std::size_t>(tile)].set(plane); }
    /// Returns when it has.
    void wait_for(int tile, int plane) const;

  private:
    std::vector<Progress> last_planes_;
};

/// What one thread does in a sweep, and its scratch.
class alignas(buffer_alignment_byte) TileSweep {
  public:
    /// `kept` and `progress` are shared with the sweep's other threads.
    TileSweep(const Functions& functions, const Weights& smoother, const Tiles& tiles, KeptPairs& kept,
              TileProgress& progress);

    /// Goes through all planes of the tile. The sum of squares of its new residual if `order.measures`,
    /// else 0.
    double run(const Tile& tile, const SweepGrids& grids, const SweepOrder& order);

  private:
    void begin(const Tile& tile, const SweepGrids& grids, const SweepOrder& order);
    void step(int plane);
    void correct(int plane, Rows rows);
    void fetch_right_side(int plane, int row) const;
    void take_residual(int plane, Rows rows);
    void smooth(int plane, Rows rows);
    void go_on(int plane);
    void restrict_planes(int coarse_plane);
    void add_residual(int plane, Rows rows, double* result);

    Functions functions_;
    Weights smoother_;
    TileProgress* progress_;
    int length_;
    ResidualInHand residual_;
    PlanesInHand new_residual_;
    SweepGrids grids_{};
    SweepOrder order_{};
    Halo halo_{};
    Tile tile_{};
    double sum_of_squares_ = 0;
};

/// One pass over a grid that does a V-cycle's whole way on it: u += Q z, r = v - A u, u += S r, then
/// r = v - A u and its restriction. Each stage follows one plane and one row behind the stage before
/// (wavefront, or temporal blocking), in tiles of rows whose planes stay in the second cache, so that u and v
/// come from memory once and no residual goes there. Each thread has a tile at a time, and follows one plane
/// behind the thread that has the tile before.
class Sweep {
  public:
    /// For grids of up to `planes` planes.
    Sweep(const Functions& functions, const Weights& smoother, const Tiles& tiles, int planes, Team& team);
    Sweep(const Sweep&) = delete;
    Sweep& operator=(const Sweep&) = delete;
    Sweep(Sweep&&) = delete;
    Sweep& operator=(Sweep&&) = delete;
    ~Sweep() = default;

    /// The sum of squares of this rank's new residual if `order.measures`, else 0. The order of the sum
    /// depends on the tiles alone.
    double run(const SweepGrids& grids, const SweepOrder& order);

  private:
    Tiles tiles_;
    Team* team_;
    KeptPairs kept_;
    TileProgress progress_;
    /// One for each thread.
    std::vector<TileSweep> workers_;
    /// One for each tile.
    std::vector<double> sums_of_squares_;
};

}  // namespace tare::npb::mg
