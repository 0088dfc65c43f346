// SPDX-License-Identifier: Apache-2.0
#include "collective/measure.hpp"

#include <mpi.h>

#include <algorithm>

#include "common/system.hpp"

namespace tare::collective {

namespace {

constexpr std::uint64_t least_trials = 4;  ///< As many calls before the timed ones warm the way.

[[nodiscard]] bool works(Call& call, int ranks) {
    bool right = true;
    const std::uint64_t trials = std::max(least_trials, static_cast<std::uint64_t>(ranks));  // each root once
    for (std::uint64_t turn = 0; turn < trials; ++turn) {
        right = call.try_once(turn) && right;
    }
    return right;
}

[[nodiscard]] double timed_s(Call& call, std::uint64_t count, MPI_Comm active) {
    constexpr double second_per_nanosecond = 1e-9;
    MPI_Barrier(active);
    const std::int64_t start_ns = monotonic_raw_ns();
    for (std::uint64_t turn = 0; turn < count; ++turn) {
        call.run(turn);
    }
    const auto wall_ns = static_cast<double>(monotonic_raw_ns() - start_ns);
    return wall_ns * second_per_nanosecond / static_cast<double>(count) / call.messages();
}

[[nodiscard]] double over_ranks(double own, MPI_Op operation, MPI_Comm active) {
    double all = 0;
    MPI_Reduce(&own, &all, 1, MPI_DOUBLE, operation, 0, active);
    return all;
}

}  // namespace

Measured measure(Benchmark benchmark, const Member& member, Point point, MPI_Comm active) {
    const auto call = make_call(benchmark, member, point.size_byte);
    bool right = works(*call, member.ranks);
    call->spoil(point.count - 1);
    const double own_s = timed_s(*call, point.count, active);
    right = call->is_right(point.count - 1) && right;
    const int wrong = right ? 0 : 1;
    Measured measured{.point = point};
    MPI_Allreduce(&wrong, &measured.wrong_ranks, 1, MPI_INT, MPI_SUM, active);
    measured.min_s = over_ranks(own_s, MPI_MIN, active);
    measured.max_s = over_ranks(own_s, MPI_MAX, active);
    measured.mean_s = over_ranks(own_s, MPI_SUM, active) / size_of(active);
    return measured;
}

}  // namespace tare::collective
