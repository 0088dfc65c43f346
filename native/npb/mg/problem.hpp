// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/program.hpp"

namespace tare::npb::mg {

/// MG: Poisson's equation on a periodic cube by multigrid, bound by memory.
extern const Kernel kernel;

}  // namespace tare::npb::mg
