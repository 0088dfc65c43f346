// SPDX-License-Identifier: Apache-2.0
// From what a rank's journal says to its counters.
#pragma once

#include "profile/record.hpp"

namespace tare::profile {

/// Counts a call's time, and the data of all but posted and ended requests: of these the journal does not say
/// what they were.
void count(const RankCounters& counters, const Entry& entry);

/// Counts what a process that is gone had yet to count, but for the ends of receives that it had posted
/// before: what it knew of these is gone. Entries that cannot be are left out.
void count_rest(const RankCounters& counters);

}  // namespace tare::profile
