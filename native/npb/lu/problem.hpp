// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/program.hpp"

namespace tare::npb::lu {

/// LU: a steady state of the compressible Navier-Stokes equations sought by symmetric successive
/// over-relaxation, whose two sweeps go through the grid point after point.
extern const Kernel kernel;

}  // namespace tare::npb::lu
