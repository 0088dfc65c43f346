// SPDX-License-Identifier: Apache-2.0
#include "bounce/percentile.hpp"

#include <algorithm>

namespace tare::bounce {

std::int64_t percentile(std::span<const std::int64_t> ascending, std::uint64_t per_mille) {
    constexpr std::uint64_t whole = 1000;
    const std::uint64_t rank = (ascending.size() * per_mille + whole - 1) / whole;
    return ascending[std::clamp<std::uint64_t>(rank, 1, ascending.size()) - 1];
}

}  // namespace tare::bounce
