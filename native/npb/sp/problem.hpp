// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/program.hpp"

namespace tare::npb::sp {

/// SP: a flow advanced in time by scalar pentadiagonal systems along each axis.
extern const Kernel kernel;

}  // namespace tare::npb::sp
