// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "npb/cg/classes.hpp"
#include "npb/cg/solve.hpp"
#include "npb/common/arguments.hpp"
#include "npb/common/outcome.hpp"

namespace tare::npb::cg {

/// Throws `WrongUse` for a class that has no published answer.
[[nodiscard]] const Class& class_of(ProblemClass name);

/// The last step's estimate against the published one, and early steps' against independently computed ones.
/// `estimates` are those of all outer steps.
[[nodiscard]] std::vector<Check> checks(const Arguments& arguments, std::span<const Estimate> estimates);

}  // namespace tare::npb::cg
