// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/share.hpp"
#include "npb/common/team.hpp"
#include "npb/common/world.hpp"
#include "npb/mg/borders.hpp"
#include "npb/mg/field.hpp"
#include "npb/mg/layout.hpp"
#include "npb/mg/sweep.hpp"

namespace tare::npb::mg {

/// One grid of the hierarchy in this rank: z approximates A^-1 r there, or u solves A u = v on the finest.
struct Level {
    Level(const Functions& functions, const Weights& smoother, const Layout& layout, const World& active,
          Team& threads, int grid_edge);
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    Level(Level&&) = delete;
    Level& operator=(Level&&) = delete;
    ~Level() = default;

    int edge;
    /// The threads that work on this grid.
    Team* team;
    /// This rank's planes, and those of them that finer grids lie on: the same but for a whole grid.
    Share<int> planes;
    Share<int> own;
    Field solution;
    Field right_side;
    Borders solution_borders;
    Borders right_side_borders;
    Sweep sweep;
};

}  // namespace tare::npb::mg
