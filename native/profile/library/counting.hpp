// SPDX-License-Identifier: Apache-2.0
// How messages and data get into the profile.
#pragma once

#include "profile/library/profile.hpp"

namespace tare::profile {

/// Of `count` elements, without the gaps between them.
[[nodiscard]] std::uint64_t data_byte(const Profile& profile, int count, MPI_Datatype type);
/// What a receive or a read really brought: Open MPI keeps it there, and its own functions that tell it are
/// seldom in the caches.
[[nodiscard]] std::uint64_t data_byte(const MPI_Status& status);

/// One message, as its sender sees it.
struct Send {
    Call call;
    std::uint64_t byte;
    int to_world_rank;
    Stream stream;
    std::int64_t begin_ns;
};

void count_send(Profile& profile, const Send& send);

/// What `status` says of a message that came through `communicator`, and the call that its data count for.
struct Receipt {
    Call call;
    const Communicator* communicator;
    const MPI_Status* status;

    /// A receive from MPI_PROC_NULL brings nothing.
    [[nodiscard]] bool is_message() const { return status->MPI_SOURCE >= 0; }
    [[nodiscard]] int from_world_rank() const {
        return communicator->world_ranks.at(static_cast<std::size_t>(status->MPI_SOURCE));
    }
};

void count_receipt(Profile& profile, const Receipt& receipt);
/// The call between these times waited for the message.
void log_receipt(Profile& profile, const Receipt& receipt, Slot slot, std::int64_t begin_ns,
                 std::int64_t end_ns);

}  // namespace tare::profile
