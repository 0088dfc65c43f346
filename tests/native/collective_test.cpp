// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "arguments.hpp"
#include "collective/contents.hpp"
#include "collective/groups.hpp"
#include "collective/options.hpp"

namespace {

using namespace tare::collective;
using tare::tests::Arguments;

TEST_CASE("a benchmark has sizes with a count each, and names say which") {
    const Options options = parse_options(
        Arguments{"bcast", "--group-ranks", "2", "--mapping", "far", "0:1000", "4194304:10"}.span());
    CHECK(name_of(options.benchmark) == "bcast");
    CHECK(options.group_ranks == 2);
    CHECK(options.mapping == Mapping::far);
    CHECK(options.points.size() == 2);
    CHECK(options.points.back().size_byte == 4194304);
    CHECK(options.points.back().count == 10);
    for (const char* const name :
         {"pingpong", "sendrecv", "exchange", "bcast", "allreduce", "alltoall", "barrier"}) {
        CHECK(name_of(parse_options(Arguments{name, "0:1"}.span()).benchmark) == name);
    }
}

TEST_CASE("what cannot be measured is refused") {
    const std::vector<std::vector<std::string>> wrong{{},
                                                      {"gossip", "0:1"},
                                                      {"bcast"},
                                                      {"bcast", "8"},
                                                      {"bcast", "8:0"},
                                                      {"bcast", "-8:1"},
                                                      {"bcast", "2147483648:1"},
                                                      {"bcast", "--group-ranks", "1", "8:1"},
                                                      {"bcast", "--mapping", "random", "8:1"},
                                                      {"bcast", "8:1", "--mapping"},
                                                      {"allreduce", "6:1"},
                                                      {"barrier", "8:1"}};
    for (const auto& words : wrong) {
        CAPTURE(words.size());
        CHECK_THROWS_AS(parse_options(Arguments{words}.span()), std::invalid_argument);
    }
}

TEST_CASE("each rank is in one group, and those left over in none") {
    for (const Mapping mapping : {Mapping::near, Mapping::far}) {
        const Groups groups{35, 2, mapping};
        CHECK(groups.count() == 17);
        CHECK(groups.active() == 34);
        std::vector<int> members(17, 0);
        for (int rank = 0; rank < 34; ++rank) {
            ++members.at(static_cast<std::size_t>(groups.of(rank).value_or(-1)));
        }
        CHECK(members == std::vector<int>(17, 2));
        CHECK_FALSE(groups.of(34).has_value());
    }
}

TEST_CASE("near partners are neighbours, and far ones are as far apart as there are groups") {
    CHECK(Groups{8, 2, Mapping::near}.of(1) == Groups{8, 2, Mapping::near}.of(0));
    CHECK(Groups{8, 2, Mapping::far}.of(4) == Groups{8, 2, Mapping::far}.of(0));
    CHECK(Groups{5, 0, Mapping::far}.count() == 1);
    CHECK(Groups{5, 0, Mapping::far}.active() == 5);
}

TEST_CASE("a group of one is none, and neither is a group that is larger than the run") {
    CHECK_THROWS_AS((Groups{1, 0, Mapping::near}), std::invalid_argument);
    CHECK_THROWS_AS((Groups{3, 4, Mapping::near}), std::invalid_argument);
}

TEST_CASE("a message is no other rank's, no shifted one, and nothing of it is left where it was spoiled") {
    std::vector<Byte> buffer(4096);
    write_message(buffer, message_of(3, 1));
    CHECK(holds_message(buffer, message_of(3, 1)));
    CHECK_FALSE(holds_message(buffer, message_of(1, 3)));
    CHECK_FALSE(holds_message(buffer, message_of(3, 0)));
    CHECK_FALSE(holds_message(std::span{buffer}.subspan(1), message_of(3, 1)));
    std::vector<Byte> spoiled(4096);
    spoil_message(spoiled, message_of(3, 1));
    for (std::size_t position = 0; position < buffer.size(); ++position) {
        REQUIRE(spoiled[position] != buffer[position]);
    }
    CHECK(holds_message({}, message_of(0, 0)));
}

}  // namespace
