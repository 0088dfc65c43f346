// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "npb/common/arguments.hpp"
#include "npb/common/outcome.hpp"
#include "npb/sp/classes.hpp"

namespace tare::npb::sp {

/// Throws `WrongUse` for a class that has no published answer.
[[nodiscard]] const Class& class_of(ProblemClass name);

/// The norms after the last step against the published ones.
[[nodiscard]] std::vector<Check> checks(const Arguments& arguments, const flow::Point& residual,
                                        const flow::Point& error);

}  // namespace tare::npb::sp
