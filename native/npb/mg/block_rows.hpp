// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/mg/rows.hpp"

// Rows of blocks, see `BlockFunctions`.
namespace tare::npb::mg::TARE_NPB_SIMD {

[[nodiscard]] BlockFunctions block_functions();

}  // namespace tare::npb::mg::TARE_NPB_SIMD
