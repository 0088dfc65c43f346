// SPDX-License-Identifier: Apache-2.0
#include "profile/collective_waits.hpp"

#include <algorithm>
#include <unordered_map>

#include "profile/wait.hpp"

namespace tare::profile {

namespace {

/// What is known of one call.
struct Gathering {
    std::int64_t last_ticks = unknown_ticks;
    /// The largest of those that are awaited.
    double error_ns = 0;
    /// Theirs, if it is one.
    std::uint64_t clock = 0;
    bool has_several_clocks = false;
    std::int32_t arrived = 0;
    std::int32_t members = 0;

    [[nodiscard]] LastBegin told_to(const Member& member) const {
        const bool is_exact = !has_several_clocks && clock == member.clock;
        return {.ticks = arrived == members ? last_ticks : unknown_ticks,
                .error_ns = is_exact ? 0 : error_ns + member.error_ns};
    }
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

void arrive(Gathering& call, const Arrival& arrival, const Member& member) {
    ++call.arrived;
    call.members = arrival.members;
    if (arrival.is_awaited != 0) {
        const bool is_first = call.last_ticks == unknown_ticks;
        call.has_several_clocks |= !is_first && call.clock != member.clock;
        call.clock = member.clock;
        call.error_ns = std::max(call.error_ns, member.error_ns);
        call.last_ticks = std::max(call.last_ticks, arrival.begin_ticks);
    }
}

}  // namespace

std::vector<std::vector<LastBegin>> last_begins(std::span<const Member> members) {
    Calls calls;
    for (const Member& member : members) {
        Walk walk{calls};
        for (const Arrival& arrival : member.arrivals) {
            arrive(walk.next(arrival), arrival, member);
        }
    }
    std::vector<std::vector<LastBegin>> begins;
    for (const Member& member : members) {
        Walk walk{calls};
        auto& own = begins.emplace_back();
        std::transform(member.arrivals.begin(), member.arrivals.end(), std::back_inserter(own),
                       [&](const Arrival& arrival) { return walk.next(arrival).told_to(member); });
    }
    return begins;
}

CollectiveWaits wait_for_last(std::span<const Meeting> meetings, std::span<const Awaited> awaited) {
    CollectiveWaits waits{};
    Wait all{};
    for (std::size_t place = 0; place < meetings.size(); ++place) {
        const Meeting& meeting = meetings[place];
        if (!meeting.waits) {
            continue;
        }
        ++waits.calls;
        if (awaited[place].ticks != unknown_ticks) {
            ++waits.told;
            all.add(wait_until(meeting.arrival.begin_ticks, meeting.end_ticks, awaited[place].ticks,
                               awaited[place].error_ticks));
        }
    }
    waits.wait_ticks = all.claimed_ticks;
    waits.error_ticks = all.error_ticks();
    return waits;
}

}  // namespace tare::profile
