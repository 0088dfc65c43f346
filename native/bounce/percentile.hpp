// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace tare::bounce {

/// The least value that `per_mille` of 1000 values do not exceed (nearest rank); `ascending` is not empty.
[[nodiscard]] std::int64_t percentile(std::span<const std::int64_t> ascending, std::uint64_t per_mille);

}  // namespace tare::bounce
