// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "hpl/matrix.hpp"

namespace tare::hpl {

/// Reads `--size N --block NB --process-rows P --process-columns Q`. Throws `std::invalid_argument`, also if
/// the grid has not as many processes as there are `ranks`.
[[nodiscard]] Problem parse_options(std::span<char* const> words, int ranks);

}  // namespace tare::hpl
