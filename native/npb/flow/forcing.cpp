// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/forcing.hpp"

#include "npb/flow/exact.hpp"
#include "npb/flow/right_hand_side.hpp"

namespace tare::npb::flow {

Field forcing(const Block& block, Simd simd) {
    Field solution{block, Field::Border::ghosts};
    set_exact(solution);
    const Field nothing{block, Field::Border::none};
    Field found{block, Field::Border::none};
    constexpr double scale = -1;
    for (int z = block.z.begin(); z < block.z.end(); ++z) {
        functions(simd).right_hand_side(block, scale, solution.view(), nothing.view(),
                                        {.z = z, .y_begin = block.y.begin(), .y_end = block.y.end()},
                                        found.view());
    }
    return found;
}

}  // namespace tare::npb::flow
