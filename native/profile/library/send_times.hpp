// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profile/clock_lines.hpp"
#include "profile/library/profile.hpp"

namespace tare::profile {

/// What this rank waited for late senders. All ranks of MPI_COMM_WORLD call it together: each tells the
/// others when it began to send to them. `clocks` are the ranks'.
[[nodiscard]] LateSenders exchange_send_times(Profile& profile, std::span<const RankClock> clocks);

}  // namespace tare::profile
