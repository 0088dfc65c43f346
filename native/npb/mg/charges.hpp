// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/arguments.hpp"
#include "npb/common/team.hpp"
#include "npb/common/world.hpp"
#include "npb/mg/field.hpp"

namespace tare::npb::mg {

/// Writes the right side v into this rank's points: +1 at the ten places of the grid where NPB's sequence of
/// random numbers is largest, -1 at the ten where it is smallest, else 0 (NAS-95-020, section 2.4).
void place_charges(Field& right_side, Messages messages, const World& active, Team& team);

}  // namespace tare::npb::mg
