// SPDX-License-Identifier: Apache-2.0
#include "profile/late_senders.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "profile/wait.hpp"

namespace tare::profile {

namespace {

/// Hands out the sends of one rank, each stream in its order.
class SendQueue {
  public:
    explicit SendQueue(const Sender& sender) : error_ticks_{sender.error_ticks} {
        for (const Sending& one : sender.sends) {
            streams_[one.stream].begins_ticks.push_back(one.begin_ticks);
        }
    }

    /// When the next message of this stream began to be sent; nothing when the sender did not keep it.
    std::optional<std::int64_t> next(Stream stream) {
        const auto found = streams_.find(stream);
        if (found == streams_.end() || found->second.taken == found->second.begins_ticks.size()) {
            return std::nullopt;
        }
        Times& times = found->second;
        return times.begins_ticks[times.taken++];
    }

    [[nodiscard]] std::int64_t error_ticks() const { return error_ticks_; }

  private:
    struct Times {
        std::vector<std::int64_t> begins_ticks;
        std::size_t taken = 0;
    };
    std::unordered_map<Stream, Times> streams_;
    std::int64_t error_ticks_;
};

}  // namespace

LateSenders wait_for_senders(std::span<const Receiving> receives, std::span<const Sender> senders) {
    std::vector<SendQueue> queues{senders.begin(), senders.end()};
    LateSenders found{};
    std::unordered_map<std::int64_t, Wait> wait_of_call;
    for (const Receiving& receive : receives) {
        if (!receive.ended) {
            continue;
        }
        ++found.receives;
        SendQueue& queue = queues.at(static_cast<std::size_t>(receive.from));
        if (const auto sent_ticks = queue.next(receive.stream)) {
            ++found.told;
            wait_of_call[receive.begin_ticks].lengthen(
                wait_until(receive.begin_ticks, receive.end_ticks, *sent_ticks, queue.error_ticks()));
        }
    }
    Wait all{};
    for (const auto& [begin_ticks, wait] : wait_of_call) {
        all.add(wait);
    }
    found.wait_ticks = all.claimed_ticks;
    found.error_ticks = all.error_ticks();
    return found;
}

}  // namespace tare::profile
