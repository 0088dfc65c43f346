// SPDX-License-Identifier: Apache-2.0
#include "npb/common/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

using tare::npb::Random;

TEST_CASE("a jump arrives where as many steps do") {
    for (const std::uint64_t steps : {0U, 1U, 2U, 7U, 1000U, 65537U}) {
        Random stepped{314159265};
        for (std::uint64_t step = 0; step < steps; ++step) {
            static_cast<void>(stepped.next());
        }
        Random jumped{314159265};
        jumped.jump(steps);
        CHECK(jumped.state() == stepped.state());
    }
}

TEST_CASE("numbers lie strictly between 0 and 1, and the period is 2^44") {
    Random random{271828183};
    double least = 1;
    double most = 0;
    for (int draw = 0; draw < 100000; ++draw) {
        const double value = random.next();
        least = std::min(least, value);
        most = std::max(most, value);
    }
    CHECK(least > 0);
    CHECK(most < 1);
    CHECK(tare::npb::random_power(std::uint64_t{1} << 44U) == 1);
    CHECK(tare::npb::random_power(std::uint64_t{1} << 43U) != 1);
}
