// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profile/library/profile.hpp"

namespace tare::profile {

/// In MPI_Finalize: all ranks meet, compare their clocks, tell each other when they sent, and rank 0 writes
/// the run's file. MPI_Finalize counts as communication up to the meeting; what comes after is the profiler's
/// own time and in no share.
void finish(Profile& profile);

}  // namespace tare::profile
