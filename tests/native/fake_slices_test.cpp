// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <sstream>

#include "fake/slices.hpp"

namespace {

std::string answers_to(const std::string& tokens, const tare::fake::Options& options, int exit_code) {
    std::istringstream input{tokens};
    std::ostringstream output;
    CHECK(tare::fake::serve_slices(options, input, output) == exit_code);
    return output.str();
}

}  // namespace

TEST_CASE("each token is answered with the planted time of its work") {
    const tare::fake::Options options{.value = 0.5, .slowdown = 0.1};
    CHECK(answers_to("fake 1\nfake 4\n", options, 0) == "slice 550000000 - - 1\nslice 2200000000 - - 4\n");
}

TEST_CASE("a token that is none ends it with wrong use") { CHECK(answers_to("fake many\n", {}, 2).empty()); }

TEST_CASE("what goes wrong does so in the place of the second answer") {
    tare::fake::Options options;
    options.behaviour = tare::fake::Behaviour::fail;
    CHECK(answers_to("fake 1\nfake 1\n", options, 3) == "slice 1000000000 - - 1\n");
}
