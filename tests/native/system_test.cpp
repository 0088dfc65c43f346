// SPDX-License-Identifier: Apache-2.0
#include "common/system.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>

namespace {

TEST_CASE("blanks and line ends are trimmed at both ends only") {
    CHECK(tare::trimmed(" a b\n") == "a b");
    CHECK(tare::trimmed("\t\n ").empty());
    CHECK(tare::trimmed("").empty());
}

TEST_CASE("a file of /proc is read, a missing one is not") {
    CHECK(tare::read_text("/proc/self/comm") == "native_tests\n");
    CHECK_FALSE(tare::read_text("/proc/self/no-such-file").has_value());
}

TEST_CASE("the clock does not go back") {
    const auto first = tare::monotonic_raw_ns();
    CHECK(tare::monotonic_raw_ns() >= first);
}

TEST_CASE("writing to a pipe that nobody reads gives up after the limit") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const std::string more_than_a_pipe_holds(std::size_t{4} * 1024 * 1024, 'x');
    const auto start = std::chrono::steady_clock::now();
    CHECK_FALSE(tare::write_all(ends[1], more_than_a_pipe_holds, std::chrono::milliseconds{50}));
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds{5});
    CHECK(tare::write_all(STDERR_FILENO, "", std::chrono::milliseconds{0}));
    ::close(ends[0]);
    ::close(ends[1]);
}

}  // namespace
