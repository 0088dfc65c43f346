// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "npb/common/arguments.hpp"
#include "npb/common/outcome.hpp"
#include "npb/mg/operators.hpp"

namespace tare::npb::mg {

struct Class {
    ProblemClass name;
    /// The grid has edge^3 points.
    int edge;
    /// V-cycles.
    int iterations;
    Weights smoother;
    /// The last residual's root mean square.
    double published_norm;
};

/// Throws `WrongUse` for a class that has no published answer.
[[nodiscard]] const Class& class_of(ProblemClass name);

/// The last residual's norm against the published one.
[[nodiscard]] std::vector<Check> checks(const Arguments& arguments, double norm);

}  // namespace tare::npb::mg
