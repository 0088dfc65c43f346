// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "collective/calls.hpp"

namespace tare::collective {

/// What all ranks that take part know of one message size; whole on rank 0 alone, but for `wrong_ranks`.
struct Measured {
    Point point;
    double min_s = 0;   ///< Mean time per call of the rank where it is the least.
    double mean_s = 0;  ///< The mean of all ranks' mean times.
    double max_s = 0;
    int wrong_ranks = 0;  ///< Ranks that received something else than was sent to them.
};

/// Checks that the messages arrive as they were sent, then times `point.count` calls in all groups at once,
/// and checks what the last of them brought. `active`: all ranks that take part.
[[nodiscard]] Measured measure(Benchmark benchmark, const Member& member, Point point, MPI_Comm active);

}  // namespace tare::collective
