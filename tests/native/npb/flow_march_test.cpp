// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <vector>

#include "npb/flow/march.hpp"

using tare::npb::Arguments;
using tare::npb::Check;
using tare::npb::WrongUse;
using tare::npb::flow::Edges;
using tare::npb::flow::March;
using tare::npb::flow::Point;

namespace {

constexpr March of_class{.edge = 12, .steps = 60, .time_step = 0.01};
constexpr Edges edges{.least = 5, .most = 100};

March march_with(const char* name, double value) {
    Arguments arguments;
    arguments.settings[name] = value;
    return tare::npb::flow::march_of(arguments, of_class, edges);
}

}  // namespace

TEST_CASE("a march is the class's but for what is set") {
    CHECK(tare::npb::flow::march_of({}, of_class, edges).edge == 12);
    const March changed = march_with("steps", 7);
    CHECK(changed.edge == 12);
    CHECK(changed.steps == 7);
    CHECK(changed.time_step == 0.01);
    CHECK(march_with("time_step", 0.5).time_step == 0.5);
}

TEST_CASE("a march of no size, of too large a one, of parts of steps, or backwards is refused in words") {
    CHECK(march_with("edge", 5).edge == 5);
    CHECK(march_with("edge", 100).edge == 100);
    CHECK_THROWS_WITH_AS(static_cast<void>(march_with("edge", 4)), "edge is a whole number from 5 to 100",
                         WrongUse);
    CHECK_THROWS_AS(static_cast<void>(march_with("edge", 101)), WrongUse);
    CHECK_THROWS_AS(static_cast<void>(march_with("steps", 0)), WrongUse);
    CHECK_THROWS_AS(static_cast<void>(march_with("steps", 1.5)), WrongUse);
    CHECK_THROWS_AS(static_cast<void>(march_with("time_step", 0)), WrongUse);
    CHECK_THROWS_AS(static_cast<void>(march_with("time_step", -1)), WrongUse);
}

TEST_CASE("norms are right within 1e-8, and have no published value in a problem of the user's own") {
    const Point published{1, 2, 3, 4, 5};
    std::vector<Check> checks;
    tare::npb::flow::add_norms(checks, {}, "error", {1, 2, 3 * (1 + 0.9e-8), 4 * (1 + 1.1e-8), 5}, published);
    REQUIRE(checks.size() == 5);
    CHECK(checks[2].name == "error 3");
    CHECK(checks[2].is_right());
    CHECK(!checks[3].is_right());
    Arguments own;
    own.settings["steps"] = 2;
    tare::npb::flow::add_norms(checks, own, "error", published, published);
    CHECK(!checks.back().published.has_value());
}
