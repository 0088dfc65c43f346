// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/launch.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using tare::stopwatch::candidate_paths;
using Paths = std::vector<std::string>;

TEST_CASE("a command with a slash is taken as it is") {
    CHECK(candidate_paths("./hpcc", {"PATH=/usr/bin"}) == Paths{"./hpcc"});
}

TEST_CASE("a command without a slash is looked up in the PATH given to it") {
    CHECK(candidate_paths("hpcc", {"A=1", "PATH=/opt/bin:/usr/bin"}) ==
          Paths{"/opt/bin/hpcc", "/usr/bin/hpcc"});
}

TEST_CASE("an empty folder of PATH is the present directory") {
    CHECK(candidate_paths("hpcc", {"PATH=:/usr/bin"}) == Paths{"./hpcc", "/usr/bin/hpcc"});
}

TEST_CASE("without PATH the folders are those of execvp") {
    CHECK(candidate_paths("hpcc", {"PATHS=/nowhere"}) == Paths{"/bin/hpcc", "/usr/bin/hpcc"});
}

TEST_CASE("an empty command is looked up nowhere") {
    CHECK(candidate_paths("", {"PATH=/usr/bin"}) == Paths{""});
}

}  // namespace
