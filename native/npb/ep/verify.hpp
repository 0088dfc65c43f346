// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "npb/common/arguments.hpp"
#include "npb/common/outcome.hpp"
#include "npb/ep/classes.hpp"
#include "npb/ep/pairs.hpp"

namespace tare::npb::ep {

/// Throws `WrongUse` for a class that has no published answer.
[[nodiscard]] const Class& class_of(ProblemClass name);

/// Pairs whose larger deviate lies in the annulus; the last annulus has no end.
[[nodiscard]] std::int64_t count_of(const Tally& tally, std::int64_t annulus);

/// The sums against the published ones, as in NPB; and, more than NPB asks, the counts of annuli where they
/// are known.
[[nodiscard]] std::vector<Check> checks(const Arguments& arguments, const Tally& tally);

}  // namespace tare::npb::ep
