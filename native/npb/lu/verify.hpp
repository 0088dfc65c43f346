// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "npb/common/arguments.hpp"
#include "npb/common/outcome.hpp"
#include "npb/lu/classes.hpp"

namespace tare::npb::lu {

/// Throws `WrongUse` for a class that has no published answer.
[[nodiscard]] const Class& class_of(ProblemClass name);

/// The norms and the surface integral against the published ones.
[[nodiscard]] std::vector<Check> checks(const Arguments& arguments, const Answer& computed);

}  // namespace tare::npb::lu
