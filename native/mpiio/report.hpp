// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpiio/cycle.hpp"
#include "mpiio/options.hpp"
#include "mpiio/world.hpp"

namespace tare::mpiio {

/// The line of JSON about a whole run; of rank 0.
[[nodiscard]] std::string json(const Options& options, const World& world, const std::vector<Point>& points);

}  // namespace tare::mpiio
