// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/timing.hpp"

namespace tare::npb::cg {

/// The parts of the timed region: the rank's own matrix times vector; what the ranks tell each other; the
/// vectors' updates and dot products.
enum class Part { multiply, exchange, update };

using PartTimes = Phases<Part, 3>;

}  // namespace tare::npb::cg
