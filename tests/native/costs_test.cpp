// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/costs.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace {

using tare::stopwatch::cost_ns;

constexpr std::int64_t limit_ns = 2'500'000;

/// A clock that only calls move on.
struct Fake {
    std::int64_t now_ns = 0;
    std::int64_t call_ns = 0;
    std::int64_t calls = 0;
    std::int64_t every_thousandth_ns = 0;
};

Fake& fake() {
    static Fake only;
    return only;
}

std::int64_t fake_now_ns() { return fake().now_ns; }

void fake_call() {
    ++fake().calls;
    fake().now_ns += fake().call_ns + (fake().calls % 1000 == 0 ? fake().every_thousandth_ns : 0);
}

std::optional<double> cost_of(const Fake& behaviour) {
    fake() = behaviour;
    return cost_ns(fake_call, fake_now_ns, limit_ns);
}

TEST_CASE("a cost is what one call takes") {
    CHECK(cost_of({.call_ns = 100}) == 100.0);
    CHECK(fake().calls > 1500);
    CHECK(fake().now_ns < 200'000);
}

TEST_CASE("what disturbs a few batches does not change it") {
    CHECK(cost_of({.call_ns = 100, .every_thousandth_ns = 300'000}) == 100.0);
}

TEST_CASE("a slow call is made less often, so that all of it keeps to the limit") {
    CHECK(cost_of({.call_ns = 20'000}) == 20'000.0);
    CHECK(fake().now_ns <= limit_ns + 5 * 20'000);
}

TEST_CASE("even the slowest is made a few times, and no more") {
    CHECK(cost_of({.call_ns = 5'000'000}) == 5'000'000.0);
    CHECK(fake().calls == 5);
}

TEST_CASE("a clock that stands still or runs backward shows no cost") {
    CHECK_FALSE(cost_of({.call_ns = 0}));
    CHECK_FALSE(cost_of({.call_ns = -10}));
}

TEST_CASE("this machine's calls cost something") {
    CHECK(tare::stopwatch::system_call_ns().value_or(0.0) > 1.0);
    CHECK(tare::stopwatch::clock_read_ns().value_or(0.0) > 1.0);
}

}  // namespace
