// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/clocks.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using tare::stopwatch::steal_ticks;

TEST_CASE("steal is the eighth number of all processors together") {
    const std::string statistics =
        "cpu  40261 0 30127 1836475 4115 0 1038 2754 7 8\ncpu0 20000 0 15000 900000 2000 0 500 1377 0 0\n";
    CHECK(steal_ticks(statistics) == 2754U);
}

TEST_CASE("a kernel that never had time stolen says 0, which is a number") {
    CHECK(steal_ticks("cpu 1 2 3 4 5 6 7 0 0 0\n") == 0U);
}

TEST_CASE("statistics without the number have no steal") {
    CHECK_FALSE(steal_ticks(""));
    CHECK_FALSE(steal_ticks("cpu 1 2 3 4 5 6 7\ncpu0 1 2 3 4 5 6 7\n"));
    CHECK_FALSE(steal_ticks("cpu0 1 2 3 4 5 6 7 8 9 10\n"));
    CHECK_FALSE(steal_ticks("cpu 1 2 3 4 5 6 7 much\n"));
}

}  // namespace
