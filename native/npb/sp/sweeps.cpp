// SPDX-License-Identifier: Apache-2.0
#include "npb/sp/sweeps.hpp"

#include "npb/sp/lines.hpp"

namespace tare::npb::sp::TARE_NPB_SIMD {

Functions functions() {
    return {.lanes = lanes,
            .solve_x = solve_x,
            .forward_x = forward_x,
            .backward_x = backward_x,
            .link_y = link_y,
            .forward_y = forward_y,
            .backward_y = backward_y,
            .forward_z = forward_z,
            .backward_z = backward_z};
}

}  // namespace tare::npb::sp::TARE_NPB_SIMD
