// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include "bounce/percentile.hpp"

namespace {

using tare::bounce::percentile;

TEST_CASE("a percentile is the least value that so many do not exceed") {
    const std::array<std::int64_t, 4> four{10, 20, 30, 40};
    CHECK(percentile(four, 250) == 10);
    CHECK(percentile(four, 251) == 20);
    CHECK(percentile(four, 500) == 20);
    CHECK(percentile(four, 999) == 40);
    CHECK(percentile(four, 1000) == 40);
}

TEST_CASE("of a single value every percentile is that value") {
    const std::array<std::int64_t, 1> only{7};
    CHECK(percentile(only, 1) == 7);
    CHECK(percentile(only, 1000) == 7);
}

}  // namespace
