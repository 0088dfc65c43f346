// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/team.hpp"
#include "npb/flow/field.hpp"

namespace tare::npb::flow {

/// The polynomial solution at coordinates in [0, 1] (RNR-94-007, table 3.1 and section 3.4).
[[nodiscard]] Point exact(double x, double y, double z);

/// Where a run starts inside the boundary: interpolated from the exact solution on it (transfinite
/// interpolation).
[[nodiscard]] Point interpolated(double x, double y, double z);

// The threads share the planes, and so are the first to touch the memory that they will work on.

/// Sets the exact solution everywhere in the block, and in those ghosts that lie in the domain. The rest is
/// fluid at rest.
void set_exact(Field& field, Team& team);

/// Boundary from the exact solution, inside interpolated between it (transfinite interpolation); ghosts not
/// set. The rest is fluid at rest.
void set_initial(Field& field, Team& team);

}  // namespace tare::npb::flow
