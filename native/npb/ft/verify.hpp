// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "npb/common/arguments.hpp"
#include "npb/common/outcome.hpp"
#include "npb/ft/classes.hpp"

namespace tare::npb::ft {

/// Throws `WrongUse` for a class that has no published answer.
[[nodiscard]] const Class& class_of(ProblemClass name);

/// The checksum of each iteration against the published one. NPB allows |difference| / |published| of 1e-12;
/// here either part may have 1 / sqrt(2) of that, so that nothing passes that NPB would refuse.
[[nodiscard]] std::vector<Check> checks(const Arguments& arguments,
                                        std::span<const std::complex<double>> checksums);

}  // namespace tare::npb::ft
