// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/simd.hpp"
#include "npb/flow/block.hpp"
#include "npb/flow/view.hpp"

namespace tare::npb::flow {

/// Some rows of one z plane.
struct Rows {
    int z;
    int y_begin;
    int y_end;
};

struct Functions {
    /// Some rows of scale * (forcing + operator applied to u): convection, viscosity, second- and
    /// fourth-difference dissipation in all three directions. The rows must lie inside the boundary of y and
    /// z. Reads u two places around; sets the whole rows of `result`, from x = 0 to the next multiple of 8
    /// after the last: zero on the boundary and beyond the block.
    void (*right_hand_side)(const Block& block, double scale, View<const double> u,
                            View<const double> forcing, const Rows& rows, View<double> result);
};

TARE_NPB_VARIANTS(Functions)

}  // namespace tare::npb::flow
