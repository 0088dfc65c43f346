// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/mpi.hpp"
#include "slices/meters.hpp"

namespace tare::slices {

/// On rank 0: its wall time, the CPU and waiting time of all ranks together (no waiting time where any rank
/// has none), and the sum of the checksums. Elsewhere its own.
[[nodiscard]] Taken together(const Taken& own);

}  // namespace tare::slices
