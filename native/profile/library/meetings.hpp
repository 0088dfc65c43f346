// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profile/clock_lines.hpp"
#include "profile/library/profile.hpp"

namespace tare::profile {

/// What this rank waited for others in collective calls. All ranks of MPI_COMM_WORLD call it together: for
/// each communicator some rank hears from all members when they came, and tells each when the last did.
/// `clocks` are the ranks'.
[[nodiscard]] CollectiveWaits exchange_meetings(Profile& profile, std::span<const RankClock> clocks);

}  // namespace tare::profile
