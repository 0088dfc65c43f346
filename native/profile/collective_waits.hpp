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

/// One member's arrivals, all in ticks of a clock that is common to the members.
struct Member {
    std::span<const Arrival> arrivals;
    /// The clock that it really read, and how far the common one's ticks may be off for it.
    std::uint64_t clock;
    double error_ns;
};

/// Of a call some member of which did not tell when it began.
inline constexpr std::int64_t unknown_ticks = std::numeric_limits<std::int64_t>::min();

/// The begin of the last that is awaited in a call.
struct LastBegin {
    std::int64_t ticks;
    /// Against the begin of the member that is told: 0 if that reads the clock of all that are awaited.
    double error_ns;
};

/// For each arrival of each member.
[[nodiscard]] std::vector<std::vector<LastBegin>> last_begins(std::span<const Member> members);

/// What a member hears in turn, by its own clock.
struct Awaited {
    std::int64_t ticks;
    std::int64_t error_ticks;
};

/// Of one rank: `awaited[n]` belongs to `meetings[n]`.
[[nodiscard]] CollectiveWaits wait_for_last(std::span<const Meeting> meetings,
                                            std::span<const Awaited> awaited);

}  // namespace tare::profile
