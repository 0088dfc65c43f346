// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string_view>

#include "meet/sockets.hpp"

namespace {

constexpr std::string_view udp =
    "11437: 00000000:1523 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 7700284 2 0 "
    "0";
constexpr std::string_view tcp6 =
    "   0: 00000000000000000000000000000000:14B6 00000000000000000000000000000000:0000 0A 00000000:00000000";
constexpr std::string_view time_wait =
    "  24: 0100007F:DFEA 0100007F:1523 06 00000000:00000000 03:00001708 00000000";
constexpr std::string_view hosts =
    "127.0.0.1 localhost\n::1 n2\n198.18.0.10\tn1 node-1 # the first\n198.18.0.11 n2\n# 198.18.0.9 n9\n";

TEST_CASE("a socket awaits clients on its own port, over TCP and over UDP") {
    CHECK(tare::is_listener(udp, 5411));
    CHECK(tare::is_listener(tcp6, 5302));
    CHECK_FALSE(tare::is_listener(udp, 5412));
}

TEST_CASE("neither a connection that was closed nor a heading awaits clients") {
    CHECK_FALSE(tare::is_listener(time_wait, 0xDFEA));
    CHECK_FALSE(tare::is_listener(time_wait, 5411));
    CHECK_FALSE(tare::is_listener("  sl  local_address rem_address   st tx_queue", 5411));
    CHECK_FALSE(tare::is_listener("", 0));
}

TEST_CASE("a node's name has the IPv4 address of its line, and a number is its own") {
    CHECK(tare::address_of("n1", hosts) == "198.18.0.10");
    CHECK(tare::address_of("node-1", hosts) == "198.18.0.10");
    CHECK(tare::address_of("n2", hosts) == "198.18.0.11");
    CHECK(tare::address_of("127.0.0.1", "") == "127.0.0.1");
    CHECK(tare::address_of("n9", hosts).empty());
    CHECK(tare::address_of("first", hosts).empty());
}

}  // namespace
