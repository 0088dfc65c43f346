// SPDX-License-Identifier: Apache-2.0
// The program and the libraries that it has loaded, so that addresses can be told from outside.
#pragma once

#include "profile/record.hpp"

namespace tare::profile {

/// Notes all that is loaded, as far as there is room: should the process be killed, its sites can be told.
void note_modules(RankRecord& record);

/// Leaves those that calls came from, and adds such as were loaded since.
void keep_modules_of_sites(RankRecord& record);

}  // namespace tare::profile
