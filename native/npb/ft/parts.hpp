// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/timing.hpp"

namespace tare::npb::ft {

/// Parts of the timed region: tables and factors; transforms along x and half of y, with the initial field;
/// the other half of y and z, with the evolution; waiting for data of other ranks; checksums.
enum class Part { tables, xy, yz, transpose, checksum };

constexpr std::size_t part_count = 5;

using PartTimes = Phases<Part, part_count>;

}  // namespace tare::npb::ft
