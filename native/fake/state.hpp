// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tare::fake {

/// Counts the runs of one start of a node: how many there were before this one, of which it leaves a byte in
/// `file`; 0 when that cannot be written.
[[nodiscard]] unsigned runs_before(const std::string& file);

/// The slowdown after `runs` runs, each of which made the next one slower by the fraction `accumulate`.
[[nodiscard]] double grown(double slowdown, double accumulate, unsigned runs);

}  // namespace tare::fake
