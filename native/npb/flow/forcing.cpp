// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/forcing.hpp"

#include "npb/flow/exact.hpp"
#include "npb/flow/groups.hpp"

namespace tare::npb::flow {

Field forcing(const Block& block, Simd simd, Team& team) {
    Field solution{block, Field::Border::ghosts};
    set_exact(solution, team);
    const Field nothing{block, Field::Border::none};
    Field found{block, Field::Border::none};
    constexpr double scale = -1;
    RightHandSide{functions(simd), scale, solution, nothing, found}.set(team);
    return found;
}

}  // namespace tare::npb::flow
