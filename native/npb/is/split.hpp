// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "npb/is/counting.hpp"

// For hot sources alone.
namespace tare::npb::is::TARE_NPB_SIMD {

/// See `Functions`.
void split(const std::uint32_t* keys, std::int64_t count, std::uint32_t first_value, std::uint32_t values,
           std::uint16_t* to);

}  // namespace tare::npb::is::TARE_NPB_SIMD
