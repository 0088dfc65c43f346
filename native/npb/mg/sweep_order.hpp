// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/mg/field.hpp"

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
constexpr Depth solution_depth{.below = 4, .above = 3};
constexpr Depth right_side_depth{.below = 3, .above = 2};
/// The same for a sweep that doesn't go on; as far reaches what any sweep reads of the coarser solution.
constexpr Depth coarse_solution_depth{.below = 2, .above = 2};
constexpr Depth coarse_right_side_depth{.below = 1, .above = 1};

}  // namespace tare::npb::mg
