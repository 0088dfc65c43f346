// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace tare::collective {

/// Where the ranks that take part are. Whole on rank 0 alone.
struct Places {
    int nodes = 0;           ///< With a rank that takes part, as MPI tells nodes apart.
    int groups_in_node = 0;  ///< Groups whose ranks are all in one node.
};

/// Collective in `active`, all ranks that take part; `group`: this rank's own.
[[nodiscard]] Places find_places(MPI_Comm active, MPI_Comm group);

}  // namespace tare::collective
