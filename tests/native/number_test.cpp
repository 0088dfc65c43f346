// SPDX-License-Identifier: Apache-2.0
#include "common/number.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace {

using tare::parse_number;

TEST_CASE("a number is read when it is all of the text") {
    CHECK(parse_number<int>("-12") == -12);
    CHECK(parse_number<double>("2.5e-1") == 0.25);
    CHECK(parse_number<std::uint64_t>("18446744073709551615") == 18446744073709551615U);
}

TEST_CASE("anything else is no number") {
    for (const char* const text : {"", " 1", "1 ", "1x", "x", "--1", "0x10"}) {
        CHECK_FALSE(parse_number<int>(text).has_value());
    }
    CHECK_FALSE(parse_number<unsigned>("-1").has_value());
    CHECK_FALSE(parse_number<std::uint64_t>("18446744073709551616").has_value());
}

}  // namespace
