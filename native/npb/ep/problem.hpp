// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/program.hpp"
#include "npb/ep/pairs.hpp"

namespace tare::npb::ep {

/// EP, "embarrassingly parallel": Gaussian deviates made and counted, with hardly a message.
extern const Kernel kernel;

}  // namespace tare::npb::ep
