// SPDX-License-Identifier: Apache-2.0
// How long receivers waited before their senders began to send, by the times of both.
#pragma once

#include <cstdint>
#include <span>

#include "profile/record.hpp"

namespace tare::profile {

/// The messages of one sender to one receiver with the same tag in the same communicator: MPI lets none
/// overtake another, so that the n-th send is the n-th receive to be posted (MPI 3.1, section 3.5).
using Stream = std::uint64_t;

/// One message at its sender.
struct Sending {
    Stream stream;
    std::int64_t begin_ticks;
};

/// One message at its receiver, and the call that waited for it.
struct Receiving {
    Stream stream;
    std::int32_t from;
    /// False until the receive has ended with a message.
    bool ended;
    std::int64_t begin_ticks;
    std::int64_t end_ticks;
};

/// What a rank sent to the receiver, in the order of sending, by the receiver's clock.
struct Sender {
    std::span<const Sending> sends;
    /// The largest error of these times.
    std::int64_t error_ticks = 0;
};

/// Of a receiver: `receives` in the order in which they were posted; `senders[rank]`. A call that waits for
/// several messages waits for the latest of them.
[[nodiscard]] LateSenders wait_for_senders(std::span<const Receiving> receives,
                                           std::span<const Sender> senders);

}  // namespace tare::profile
