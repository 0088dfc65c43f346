// SPDX-License-Identifier: Apache-2.0
// How long ranks waited in collective calls until those that they need had come, by the times of all members.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "profile/record.hpp"

namespace tare::profile {

/// One member's begin of a collective call. The n-th of each member of a communicator is the same call: all
/// call in the same order (MPI 3.1, section 5.1).
struct Arrival {
    /// Alike in all members of a communicator, and in no other.
    std::uint64_t communicator;
    std::int64_t begin_ticks;
    std::int32_t members;
    /// Whether others wait for it: in a broadcast they do only for the root.
    std::int32_t is_awaited;
};

/// What a rank did itself in a collective call.
struct Meeting {
    Arrival arrival;
    std::int64_t end_ticks;
    /// Whether it needs others: a broadcast's root needs nobody. Nor does a call that returns at once.
    bool waits;
};

/// Of a call some member of which did not tell when it began.
inline constexpr std::int64_t unknown_ticks = std::numeric_limits<std::int64_t>::min();

/// For each arrival of each member the begin of the last that is awaited in that call.
[[nodiscard]] std::vector<std::vector<std::int64_t>> last_begins(
    std::span<const std::span<const Arrival>> members);

/// Of one rank: `last_ticks[n]` belongs to `meetings[n]`.
[[nodiscard]] CollectiveWaits wait_for_last(std::span<const Meeting> meetings,
                                            std::span<const std::int64_t> last_ticks);

}  // namespace tare::profile
