// SPDX-License-Identifier: Apache-2.0
#include "profile/library/message_log.hpp"

#include <algorithm>

namespace tare::profile {

MessageLog::MessageLog() {
    sendings_.reserve(most_logged);
    receivings_.reserve(most_logged);
}

void MessageLog::sent(int to_world_rank, Stream stream, std::int64_t begin_ticks) {
    if (stream != 0 && sendings_.size() < most_logged) {
        make_room(sendings_);
        sendings_.push_back({.to = to_world_rank, .sending = {.stream = stream, .begin_ticks = begin_ticks}});
    }
}

Slot MessageLog::post() {
    if (receivings_.size() == most_logged) {
        return no_slot;
    }
    make_room(receivings_);
    receivings_.push_back({});
    return static_cast<Slot>(receivings_.size() - 1);
}

void MessageLog::received(Slot slot, int from_world_rank, Stream stream, std::int64_t begin_ticks,
                          std::int64_t end_ticks) {
    ++ended_;
    if (stream == 0) {
        note(Untold::communicator);
    }
    if (slot == no_slot) {
        note(Untold::full);
    } else {
        receivings_[slot] = {.stream = stream,
                             .from = from_world_rank,
                             .ended = stream != 0,
                             .begin_ticks = begin_ticks,
                             .end_ticks = end_ticks};
    }
}

void MessageLog::note(Untold reason) { untold_ = std::max(untold_, reason); }

}  // namespace tare::profile
