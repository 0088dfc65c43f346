// SPDX-License-Identifier: Apache-2.0
#include "profile/library/clock.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <thread>

using namespace tare::profile;

namespace {

struct Stretch {
    Moment begin;
    Moment end;
};

Stretch sleep_ms(int length) {
    const Moment begin = Moment::now();
    std::this_thread::sleep_for(std::chrono::milliseconds{length});
    return {begin, Moment::now()};
}

}  // namespace

TEST_CASE("ticks tell the time of CLOCK_MONOTONIC, whatever they are") {
    for (const bool by_cycles : {false, now_cycles() != 0}) {
        const Clock clock{by_cycles};
        const Stretch known = sleep_ms(100);
        const double ns_per_tick = clock.ns_per_tick(known.begin, known.end);
        const Stretch told = sleep_ms(20);
        const auto ticks = static_cast<double>(clock.ticks(told.end) - clock.ticks(told.begin));
        CHECK(ticks * ns_per_tick ==
              doctest::Approx(static_cast<double>(told.end.ns - told.begin.ns)).epsilon(0.01));
    }
}

TEST_CASE("without cycles a tick is a nanosecond") {
    const Clock clock{false};
    const Moment moment{.cycles = 3, .ns = 5};
    CHECK(clock.ticks(moment) == 5);
    CHECK(clock.ns_per_tick({.cycles = 0, .ns = 0}, moment) == 1);
}

TEST_CASE("clocks of two kinds are never taken for one") {
    CHECK(Clock{false}.identity() != Clock{true}.identity());
    CHECK(Clock{true}.identity() == Clock{true}.identity());
}
