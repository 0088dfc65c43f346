// SPDX-License-Identifier: Apache-2.0
#include "profile/collective_waits.hpp"

#include <algorithm>
#include <unordered_map>

namespace tare::profile {

namespace {

/// What is known of one call.
struct Gathering {
    std::int64_t last_ticks = unknown_ticks;
    std::int32_t arrived = 0;
    std::int32_t members = 0;
};

/// Communicator → its calls in their order.
using Calls = std::unordered_map<std::uint64_t, std::vector<Gathering>>;

/// One member's way through the calls.
class Walk {
  public:
    explicit Walk(Calls& calls) : calls_{&calls} {}

    Gathering& next(const Arrival& arrival) {
        std::vector<Gathering>& calls = (*calls_)[arrival.communicator];
        const std::size_t place = places_[arrival.communicator]++;
        calls.resize(std::max(calls.size(), place + 1));
        return calls[place];
    }

  private:
    Calls* calls_;
    std::unordered_map<std::uint64_t, std::size_t> places_;
};

void arrive(Gathering& call, const Arrival& arrival) {
    ++call.arrived;
    call.members = arrival.members;
    if (arrival.is_awaited != 0) {
        call.last_ticks = std::max(call.last_ticks, arrival.begin_ticks);
    }
}

}  // namespace

std::vector<std::vector<std::int64_t>> last_begins(std::span<const std::span<const Arrival>> members) {
    Calls calls;
    for (const auto& arrivals : members) {
        Walk walk{calls};
        for (const Arrival& arrival : arrivals) {
            arrive(walk.next(arrival), arrival);
        }
    }
    std::vector<std::vector<std::int64_t>> begins;
    for (const auto& arrivals : members) {
        Walk walk{calls};
        auto& own = begins.emplace_back();
        std::transform(arrivals.begin(), arrivals.end(), std::back_inserter(own),
                       [&](const Arrival& arrival) {
                           const Gathering& call = walk.next(arrival);
                           return call.arrived == call.members ? call.last_ticks : unknown_ticks;
                       });
    }
    return begins;
}

CollectiveWaits wait_for_last(std::span<const Meeting> meetings, std::span<const std::int64_t> last_ticks) {
    CollectiveWaits waits{};
    for (std::size_t place = 0; place < meetings.size(); ++place) {
        const Meeting& meeting = meetings[place];
        if (!meeting.waits) {
            continue;
        }
        ++waits.calls;
        if (last_ticks[place] != unknown_ticks) {
            const std::int64_t begin_ticks = meeting.arrival.begin_ticks;
            ++waits.told;
            waits.wait_ticks +=
                std::clamp<std::int64_t>(last_ticks[place] - begin_ticks, 0, meeting.end_ticks - begin_ticks);
        }
    }
    return waits;
}

}  // namespace tare::profile
