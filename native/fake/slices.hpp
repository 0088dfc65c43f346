// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <istream>
#include <ostream>

#include "fake/options.hpp"

namespace tare::fake {

/// Serves turns without work: answers each line `PIECE COUNT` with `slice NANOSECONDS - - COUNT`, the planted
/// value times COUNT with noise of its own; until the end of the input. A behaviour other than `ok` is acted
/// out in the place of the second answer. Returns the exit code.
[[nodiscard]] int serve_slices(const Options& options, std::istream& tokens, std::ostream& answers);

}  // namespace tare::fake
