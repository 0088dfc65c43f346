// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <memory>
#include <unordered_map>

#include "profile/call.hpp"
#include "profile/library/communicators.hpp"
#include "profile/library/message_log.hpp"

namespace tare::profile {

/// A request whose end tells something: what a receive or a read brought, and who was waited for. Plain sends
/// are counted when they begin, so that their requests need not be known.
struct Tracked {
    enum class Kind : std::uint8_t { receive, read, write, send };

    Kind kind;
    /// Whether something is under way; a persistent request is there before it is started.
    bool active = true;
    bool persistent = false;
    /// Whether the log knows of the message already, by the probe that matched it.
    bool logged = false;
    /// What the data count for.
    Call call = Call::none;
    Slot slot = no_slot;
    std::shared_ptr<const Communicator> communicator = nullptr;
    /// What each start of a persistent send does.
    std::uint64_t byte = 0;
    int to_world_rank = 0;
    Stream stream = 0;

    [[nodiscard]] bool needs_status() const { return kind == Kind::receive || kind == Kind::read; }
    [[nodiscard]] bool of_file() const { return kind == Kind::read || kind == Kind::write; }
};

using Requests = std::unordered_map<MPI_Request, Tracked>;

/// Messages that a probe matched and that are yet to be received: where they came.
using MatchedMessages = std::unordered_map<MPI_Message, std::shared_ptr<const Communicator>>;

}  // namespace tare::profile
