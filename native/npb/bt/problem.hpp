// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/program.hpp"

namespace tare::npb::bt {

/// BT: the Navier-Stokes equations stepped in time by approximate factorisation, with block-tridiagonal
/// systems along each line of each direction.
extern const Kernel kernel;

}  // namespace tare::npb::bt
