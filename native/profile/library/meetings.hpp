// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profile/library/profile.hpp"

namespace tare::profile {

/// What this rank waited for others in collective calls. All ranks of MPI_COMM_WORLD call it together: for
/// each communicator some rank hears from all members when they came, and tells each when the last did. Times
/// of different kernels' clocks are not compared.
[[nodiscard]] CollectiveWaits exchange_meetings(Profile& profile);

}  // namespace tare::profile
