// SPDX-License-Identifier: Apache-2.0
#include "profile/late_senders.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace tare::profile;

namespace {

constexpr Stream stream = 7;

Receiving receive(std::int64_t begin_ticks, std::int64_t end_ticks, Stream own = stream, int from = 0) {
    return {.stream = own, .from = from, .ended = true, .begin_ticks = begin_ticks, .end_ticks = end_ticks};
}

LateSenders told(const std::vector<Receiving>& receives, const std::vector<Sending>& sends,
                 std::int64_t error_ticks = 0) {
    const std::vector<Sender> senders{{.sends = sends, .error_ticks = error_ticks}};
    return wait_for_senders(receives, senders);
}

}  // namespace

TEST_CASE("a receiver waits from its call until the sender's") {
    CHECK(told({receive(100, 200)}, {{stream, 150}}).wait_ticks == 50);
}

TEST_CASE("a sender that was earlier, or the message's own way, is no waiting for a late sender") {
    CHECK(told({receive(100, 200)}, {{stream, 90}}).wait_ticks == 0);
}

TEST_CASE("no more than the call itself is waiting") {
    CHECK(told({receive(100, 200)}, {{stream, 900}}).wait_ticks == 100);
}

TEST_CASE("the n-th send of a stream is its n-th receive, whatever other streams do between") {
    const LateSenders found =
        told({receive(0, 10), receive(20, 30, 8), receive(40, 60)}, {{stream, 5}, {stream, 50}, {8, 21}});
    CHECK(found.wait_ticks == 5 + 1 + 10);
    CHECK(found.told == 3);
}

TEST_CASE("a call that waits for several messages waits for the latest, once") {
    CHECK(told({receive(0, 100, 1), receive(0, 100, 2), receive(0, 100, 3)}, {{1, 40}, {2, 70}, {3, 10}})
              .wait_ticks == 70);
}

TEST_CASE("receives without an end, and those whose sender kept no time, are not told of") {
    Receiving never = receive(0, 10);
    never.ended = false;
    const LateSenders found = told({never, receive(20, 30), receive(40, 50)}, {{stream, 25}});
    CHECK(found.receives == 2);
    CHECK(found.told == 1);
    CHECK(found.wait_ticks == 5);
}

TEST_CASE("each sender has its own order") {
    const std::vector<Sending> first{{stream, 5}};
    const std::vector<Sending> second{{stream, 15}};
    const std::vector<Sender> senders{{.sends = first, .error_ticks = 0},
                                      {.sends = second, .error_ticks = 0}};
    const std::vector<Receiving> receives{receive(10, 20, stream, 1), receive(0, 9, stream, 0)};
    CHECK(wait_for_senders(receives, senders).wait_ticks == 5 + 5);
}

TEST_CASE("of a sender with another clock only what exceeds the error is waiting") {
    const LateSenders late = told({receive(100, 200), receive(300, 400)}, {{stream, 110}, {stream, 350}}, 20);
    CHECK(late.told == 2);
    CHECK(late.wait_ticks == 50);
    CHECK(late.error_ticks == 30 + 20);
}
