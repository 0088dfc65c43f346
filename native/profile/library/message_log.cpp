// SPDX-License-Identifier: Apache-2.0
#include "profile/library/message_log.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace tare::profile {

namespace {

/// 24 and 32 MiB at most, of which only what is used takes memory.
constexpr std::size_t most_messages = std::size_t{1} << 20U;
/// Between two computations of the program's the kernel takes five times as long to find memory for one page
/// as for one of many.
constexpr std::size_t block_messages = 8192;

/// Has the kernel find memory for the next block, if that begins here.
template <typename Message>
void make_room(std::vector<Message>& messages) {
    if (messages.size() % block_messages != 0) {
        return;
    }
    static const auto page_byte = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* block = std::to_address(messages.end());
    std::size_t block_byte = block_messages * sizeof(Message);
    if (std::align(page_byte, 1, block, block_byte) != nullptr) {
        // Linux before 5.14 cannot: then it is found page by page as ever.
        (void)::madvise(block, block_byte, MADV_POPULATE_WRITE);
    }
}

}  // namespace

MessageLog::MessageLog() {
    sendings_.reserve(most_messages);
    receivings_.reserve(most_messages);
}

void MessageLog::sent(int to_world_rank, Stream stream, std::int64_t begin_ticks) {
    if (stream != 0 && sendings_.size() < most_messages) {
        make_room(sendings_);
        sendings_.push_back({.to = to_world_rank, .sending = {.stream = stream, .begin_ticks = begin_ticks}});
    }
}

Slot MessageLog::post() {
    if (receivings_.size() == most_messages) {
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
