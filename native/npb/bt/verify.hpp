// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "npb/bt/classes.hpp"
#include "npb/common/arguments.hpp"
#include "npb/common/outcome.hpp"

namespace tare::npb::bt {

/// What a run ends with, to compare with its class.
struct Norms {
    flow::Point residual;
    flow::Point error;
};

/// Throws `WrongUse` for a class that has no published answer.
[[nodiscard]] const Class& class_of(ProblemClass name);

[[nodiscard]] std::vector<Check> checks(const Arguments& arguments, const Norms& norms);

}  // namespace tare::npb::bt
