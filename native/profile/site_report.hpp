// SPDX-License-Identifier: Apache-2.0
// The JSON of the places in a program that call MPI.
#pragma once

#include <vector>

#include "common/json.hpp"
#include "profile/record.hpp"

namespace tare::profile {

/// One object for each place, the one that took longest first; last, without a call, what had no room.
[[nodiscard]] std::vector<JsonObject> call_sites(const RankRecord& record);

/// The files that these places are in.
[[nodiscard]] std::vector<JsonObject> modules_of_sites(const RankRecord& record);

}  // namespace tare::profile
