// SPDX-License-Identifier: Apache-2.0
#include "profile/library/message_log.hpp"

#include <doctest/doctest.h>

using namespace tare::profile;

TEST_CASE("a receive has the place in which it was posted, whenever it ended") {
    MessageLog log;
    const Slot first = log.post();
    const Slot second = log.post();
    log.received(second, 3, 8, 20, 30);
    log.received(first, 2, 7, 40, 50);
    REQUIRE(log.receivings().size() == 2);
    CHECK(log.receivings().front().stream == 7);
    CHECK(log.receivings().back().from == 3);
    CHECK(log.ended() == 2);
    CHECK(log.untold() == Untold::none);
}

TEST_CASE("messages of an unknown communicator are counted, but not told of") {
    MessageLog log;
    log.sent(1, 0, 5);
    CHECK(log.sendings().empty());
    log.received(log.post(), 1, 0, 20, 30);
    CHECK_FALSE(log.receivings().front().ended);
    CHECK(log.ended() == 1);
    CHECK(log.untold() == Untold::communicator);
    CHECK(log.has_order());
}

TEST_CASE("an order that is lost stays lost, even when there is no more room either") {
    MessageLog log;
    while (log.post() != no_slot) {
    }
    log.note(Untold::threads);
    log.received(no_slot, 1, 7, 20, 30);
    CHECK(log.untold() == Untold::threads);
    CHECK_FALSE(log.has_order());
}
