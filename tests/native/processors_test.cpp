// SPDX-License-Identifier: Apache-2.0
#include "common/processors.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

namespace {

using tare::parse_processor_list;
using tare::ProcessorSet;

TEST_CASE("a list of processors holds numbers and ranges") {
    CHECK(parse_processor_list("3") == std::vector{3});
    CHECK(parse_processor_list("0-1,3") == std::vector{0, 1, 3});
}

TEST_CASE("a list of processors is put in order, each once") {
    CHECK(parse_processor_list("3,0-1,1-2") == std::vector{0, 1, 2, 3});
}

TEST_CASE("what is not a list of processors is refused") {
    for (const char* const text :
         {"", ",", "0,", ",0", "a", "1-", "-1", "2-1", "0-1-2", "0 1", "8192", "0-99999999"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(parse_processor_list(text), std::invalid_argument);
    }
}

TEST_CASE("binding to one processor leaves that one, and binding back restores all") {
    const std::vector<int> before = ProcessorSet::of_caller();
    REQUIRE_FALSE(before.empty());
    REQUIRE(ProcessorSet{{before.back()}}.bind_caller() == 0);
    CHECK(ProcessorSet::of_caller() == std::vector{before.back()});
    REQUIRE(ProcessorSet{before}.bind_caller() == 0);
    CHECK(ProcessorSet::of_caller() == before);
}

}  // namespace
