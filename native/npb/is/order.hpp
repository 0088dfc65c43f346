// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "npb/common/world.hpp"
#include "npb/is/ranking.hpp"

namespace tare::npb::is {

/// The full verification: puts each key at the place that its rank gives it and looks whether the keys of all
/// ranks are then in order. The number of faults in all ranks: keys without a place or lower than the key
/// before them, in this rank or in those before it; and one for each rank if the sorted keys are not the
/// `original` ones. In rank 0 alone; changes nothing.
[[nodiscard]] std::int64_t faults_of_order(const Ranking& ranking, std::span<const std::uint32_t> original,
                                           const World& world);

}  // namespace tare::npb::is
