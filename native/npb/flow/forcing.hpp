// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/simd.hpp"
#include "npb/common/team.hpp"
#include "npb/flow/field.hpp"

namespace tare::npb::flow {

/// Minus the operator applied to the exact solution, which so has no residual (RNR-94-007 section 3.2).
/// Zero on the boundary; no ghosts. The threads share the planes.
[[nodiscard]] Field forcing(const Block& block, Simd simd, Team& team);

}  // namespace tare::npb::flow
