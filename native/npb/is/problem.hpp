// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/program.hpp"

namespace tare::npb::is {

/// IS, "integer sort": the rank of each of many small whole numbers, ten times over; every rank of the run
/// sends most of its numbers to the others.
extern const Kernel kernel;

}  // namespace tare::npb::is
