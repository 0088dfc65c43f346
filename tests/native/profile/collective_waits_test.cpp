// SPDX-License-Identifier: Apache-2.0
#include "profile/collective_waits.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace tare::profile;

namespace {

constexpr std::uint64_t communicator = 7;

Meeting meeting(std::int64_t begin_ticks, std::int64_t end_ticks, bool is_awaited = true, bool waits = true,
                std::int32_t members = 2, std::uint64_t of = communicator) {
    return {.arrival = {.communicator = of,
                        .begin_ticks = begin_ticks,
                        .members = members,
                        .is_awaited = is_awaited ? 1 : 0},
            .end_ticks = end_ticks,
            .waits = waits};
}

/// What the first of several members waited, each of which may have a clock of its own.
CollectiveWaits waited(const std::vector<std::vector<Meeting>>& members,
                       const std::vector<std::uint64_t>& clocks = {}) {
    std::vector<std::vector<Arrival>> arrivals;
    std::vector<Member> parts;
    for (const auto& meetings : members) {
        auto& own = arrivals.emplace_back();
        for (const Meeting& each : meetings) {
            own.push_back(each.arrival);
        }
    }
    for (std::size_t member = 0; member < members.size(); ++member) {
        parts.push_back({.arrivals = arrivals[member],
                         .clock = clocks.empty() ? 1 : clocks[member],
                         .error_ns = clocks.empty() ? 0.0 : 10.0});
    }
    const auto begins = last_begins(parts);
    std::vector<Awaited> awaited;
    for (const LastBegin& last : begins.front()) {
        awaited.push_back({.ticks = last.ticks, .error_ticks = static_cast<std::int64_t>(last.error_ns)});
    }
    return wait_for_last(members.front(), awaited);
}

}  // namespace

TEST_CASE("a member waits from its own begin until the last one's") {
    CHECK(waited({{meeting(100, 200)}, {meeting(150, 210)}}).wait_ticks == 50);
    CHECK(waited({{meeting(100, 300, true, true, 3)},
                  {meeting(150, 310, true, true, 3)},
                  {meeting(180, 310, true, true, 3)}})
              .wait_ticks == 80);
}

TEST_CASE("the last to come does not wait, and nobody waits longer than its own call") {
    CHECK(waited({{meeting(100, 200)}, {meeting(90, 210)}}).wait_ticks == 0);
    CHECK(waited({{meeting(100, 200)}, {meeting(900, 950)}}).wait_ticks == 100);
}

TEST_CASE("in a broadcast the others wait for the root alone, and the root for nobody") {
    const Meeting root = meeting(120, 130, true, false, 3);
    const Meeting early = meeting(100, 140, false, true, 3);
    const Meeting late = meeting(135, 140, false, true, 3);
    CHECK(waited({{early}, {root}, {late}}).wait_ticks == 20);
    const CollectiveWaits of_root = waited({{root}, {early}, {late}});
    CHECK(of_root.wait_ticks == 0);
    CHECK(of_root.calls == 0);
}

TEST_CASE("the n-th call in a communicator is the same for all, whatever they do in others between") {
    const CollectiveWaits waits =
        waited({{meeting(0, 10), meeting(20, 90)},
                {meeting(5, 10), meeting(11, 12, true, true, 2, 8), meeting(50, 90)},
                {meeting(10, 12, true, true, 2, 8)}});
    CHECK(waits.wait_ticks == 5 + 30);
    CHECK(waits.told == 2);
}

TEST_CASE("nothing is told of a call of which some member tells nothing") {
    const CollectiveWaits waits = waited({{meeting(0, 10), meeting(20, 90)}, {meeting(5, 10)}});
    CHECK(waits.calls == 2);
    CHECK(waits.told == 1);
    CHECK(waits.wait_ticks == 5);
}

TEST_CASE("between several clocks a wait is known within the errors of both, within one exactly") {
    const std::vector<std::vector<Meeting>> members{{meeting(100, 200)}, {meeting(150, 210)}};
    const CollectiveWaits apart = waited(members, {1, 2});
    CHECK(apart.told == 1);
    CHECK(apart.wait_ticks == 50);
    CHECK(apart.error_ticks == 20);
    CHECK(waited(members, {2, 2}).error_ticks == 0);
    CHECK(waited({{meeting(100, 200)}, {meeting(115, 210)}}, {1, 2}).wait_ticks == 0);
}

TEST_CASE("a broadcast from a root with the same clock is known exactly, whatever the others read") {
    const std::vector<std::vector<Meeting>> members{{meeting(90, 140, false, true, 3)},
                                                    {meeting(120, 130, true, false, 3)},
                                                    {meeting(135, 140, false, true, 3)}};
    CHECK(waited(members, {1, 1, 2}).error_ticks == 0);
    CHECK(waited(members, {1, 2, 2}).error_ticks == 20);
}
