// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "arguments.hpp"
#include "slices/meters.hpp"
#include "slices/options.hpp"

namespace {

using namespace tare::slices;
using tare::tests::Arguments;

TEST_CASE("a turn is a piece and a count of 1 or more") {
    CHECK(parse_turn("system-calls 600000").piece == "system-calls");
    CHECK(parse_turn("compute 1").count == 1);
    for (const char* const wrong : {"", "compute", "compute 0", "compute -1", "compute 1.5", "compute 1 2",
                                    " 1", "compute 281474976710657"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(parse_turn(wrong), std::invalid_argument);
    }
}

TEST_CASE("options are read up to the turns of --once") {
    const Options options = parse_options(
        Arguments{"--rounds", "3", "--memory-mib", "8", "--once", "random", "7", "compute", "9"}.span());
    CHECK(options.rounds == 3);
    CHECK(options.memory_mib == 8);
    CHECK(options.once.size() == 2);
    CHECK(options.once.back().text() == "compute 9");
    CHECK_THROWS_AS(parse_options(Arguments{"--once", "random"}.span()), std::invalid_argument);
    CHECK_THROWS_AS(parse_options(Arguments{"--once"}.span()), std::invalid_argument);
    CHECK_THROWS_AS(parse_options(Arguments{"--rounds"}.span()), std::invalid_argument);
    CHECK_THROWS_AS(parse_options(Arguments{"--colour", "1"}.span()), std::invalid_argument);
}

TEST_CASE("where memory lies is asked for, or left to the kernel") {
    CHECK_FALSE(parse_options(Arguments{"--rounds", "3"}.span()).placement.huge_pages.has_value());
    const auto asked =
        parse_options(Arguments{"--huge-pages", "off", "--numa-node", "0", "--processor-node", "1"}.span());
    CHECK(asked.placement.huge_pages == false);
    CHECK(asked.placement.numa_node == 0);
    CHECK(asked.placement.processor_node == 1);
    CHECK_THROWS_AS(parse_options(Arguments{"--huge-pages", "1"}.span()), std::invalid_argument);
    CHECK_THROWS_AS(parse_options(Arguments{"--numa-node", "-1"}.span()), std::invalid_argument);
}

TEST_CASE("a fifth of a slice warms the caches, and one unit at least") {
    CHECK(warming_units(1) == 1);
    CHECK(warming_units(9) == 1);
    CHECK(warming_units(1000) == 200);
}

TEST_CASE("an answer has a dash where waiting is not counted") {
    CHECK(Taken{.wall_ns = 5, .cpu_ns = 4, .waited_ns = 3, .checksum = 255}.line() == "slice 5 4 3 ff");
    CHECK(Taken{.wall_ns = 5, .cpu_ns = 4, .waited_ns = {}, .checksum = 0}.line() == "slice 5 4 - 0");
}

TEST_CASE("the waiting time is the second of three figures") {
    CHECK(second_figure("12 345 6\n") == 345);
    CHECK_FALSE(second_figure("12 345").has_value());
    CHECK_FALSE(second_figure("").has_value());
    CHECK_FALSE(second_figure("1 x 2").has_value());
    CHECK_FALSE(WaitedTime{"/proc/no/such"}.read_ns().has_value());
}

}  // namespace
