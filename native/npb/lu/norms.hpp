// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/team.hpp"
#include "npb/lu/layout.hpp"

namespace tare::npb::lu {

/// One value for each conserved quantity.
using Norms = Point;

// The threads share the planes, whose sums are added in one order whatever the number of threads.

/// Per quantity the root of the mean of squares over all ranks' points inside the boundary. All ranks call
/// it.
[[nodiscard]] Norms residual_norms(GroupField& residual, const Block& block, Team& team);

/// The difference from the exact solution. All ranks call it.
[[nodiscard]] Norms error_norms(const Field& field, const Block& block, Team& team);

/// The pressure, integrated with the trapezoid rule over the six faces of a box just inside the boundary
/// (RNR-94-007 section 4.4.1) and summed over opposite faces. All ranks call it.
[[nodiscard]] double surface_integral(const Field& field, const Block& block, Team& team);

}  // namespace tare::npb::lu
