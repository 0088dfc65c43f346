// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/quality.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "common/processors.hpp"
#include "common/system.hpp"
#include "stopwatch/exchange.hpp"

namespace {

using tare::ProcessorSet;
using tare::stopwatch::counter_flags;
using tare::stopwatch::exchange_readings;

constexpr std::uint64_t count = 1000;
constexpr std::int64_t limit_ns = 2'000'000'000;

/// A clock that every second reading of all threads finds 5 ns behind.
std::int64_t jumping_ns() {
    static std::atomic<std::int64_t> calls{0};
    constexpr std::int64_t behind_ns = 5;
    const std::int64_t call = calls.fetch_add(1);
    return call - (call % 2 == 0 ? 0 : behind_ns);
}

TEST_CASE("flags of the time stamp counter are found among others") {
    const std::string text =
        "processor\t: 0\nflags\t\t: fpu tsc nonstop_tsc constant_tsc avx\nprocessor\t: 1\nflags\t: "
        "tsc_reliable\n";
    CHECK(counter_flags(text) == std::vector<std::string>{"constant_tsc", "nonstop_tsc"});
    CHECK(counter_flags("processor\t: 0\nflags\t\t: fpu\n") == std::vector<std::string>{});
    CHECK_FALSE(counter_flags("processor\t: 0\nFeatures\t: fp asimd\n"));
}

TEST_CASE("one processor has nobody to exchange readings with") {
    const auto found = exchange_readings({0}, tare::monotonic_raw_ns, count, limit_ns);
    CHECK(found.pairs == 0);
    CHECK(found.count == 0);
}

TEST_CASE("processors of one machine agree, and every exchange is counted") {
    const auto processors = ProcessorSet::of_caller();
    if (processors.size() < 2) {
        return;
    }
    const auto found =
        exchange_readings({processors[0], processors[1]}, tare::monotonic_raw_ns, count, limit_ns);
    CHECK(found.pairs == 1);
    CHECK(found.count == count - 1);
    CHECK(found.backward == 0);
}

TEST_CASE("a clock that goes back from one processor to the next is found") {
    const auto processors = ProcessorSet::of_caller();
    if (processors.size() < 2) {
        return;
    }
    const auto found = exchange_readings({processors[0], processors[1]}, jumping_ns, count, limit_ns);
    CHECK(found.backward > count / 4);
    CHECK(found.worst_ns >= 4);
}

}  // namespace
