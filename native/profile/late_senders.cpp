// SPDX-License-Identifier: Apache-2.0
#include "profile/late_senders.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tare::profile {

namespace {

/// Hands out the sends of one rank, each stream in its order.
class SendQueue {
  public:
    explicit SendQueue(std::span<const Sending> sends) {
        for (const Sending& one : sends) {
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

  private:
    struct Times {
        std::vector<std::int64_t> begins_ticks;
        std::size_t taken = 0;
    };
    std::unordered_map<Stream, Times> streams_;
};

std::int64_t wait_ticks(const Receiving& receive, std::int64_t sent_ticks) {
    return std::clamp<std::int64_t>(sent_ticks - receive.begin_ticks, 0,
                                    receive.end_ticks - receive.begin_ticks);
}

}  // namespace

LateSenders wait_for_senders(std::span<const Receiving> receives,
                             std::span<const std::span<const Sending>> senders) {
    std::vector<SendQueue> queues;
    queues.reserve(senders.size());
    std::transform(senders.begin(), senders.end(), std::back_inserter(queues),
                   [](std::span<const Sending> sends) { return SendQueue{sends}; });
    LateSenders found{};
    std::unordered_map<std::int64_t, std::int64_t> longest_of_call_ticks;
    for (const Receiving& receive : receives) {
        if (!receive.ended) {
            continue;
        }
        ++found.receives;
        if (const auto sent_ticks = queues.at(static_cast<std::size_t>(receive.from)).next(receive.stream)) {
            ++found.told;
            std::int64_t& longest_ticks = longest_of_call_ticks[receive.begin_ticks];
            longest_ticks = std::max(longest_ticks, wait_ticks(receive, *sent_ticks));
        }
    }
    for (const auto& [begin_ticks, longest_ticks] : longest_of_call_ticks) {
        found.wait_ticks += longest_ticks;
    }
    return found;
}

}  // namespace tare::profile
