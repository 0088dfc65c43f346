// SPDX-License-Identifier: Apache-2.0
#include "profile/record.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string_view>

using namespace tare::profile;

TEST_CASE("a size belongs to the class of the power of two at or below it") {
    CHECK(size_class(0) == 0);
    for (std::size_t one = 1; one + 1 < size_classes; ++one) {
        CHECK(size_class(smallest_of(one)) == one);
        CHECK(size_class(2 * smallest_of(one) - 1) == one);
    }
    CHECK(size_class(~std::uint64_t{0}) == size_classes - 1);
}

TEST_CASE("messages are counted in their class") {
    Messages messages{};
    for (const std::uint64_t byte : {0, 1, 1023, 1024, 2047}) {
        messages.add(byte);
    }
    CHECK(messages.count == 5);
    CHECK(messages.byte == 4095);
    CHECK(messages.by_size.at(size_class(512)) == 1);
    CHECK(messages.by_size.at(size_class(1024)) == 2);
}

TEST_CASE("every call stands once in the table") {
    std::set<std::string_view> names;
    for (const CallEntry& call : call_table) {
        names.insert(call.name);
    }
    CHECK(names.size() == call_count);
    CHECK(call_table.at(index_of(Call::Isend)).name == "MPI_Isend");
    CHECK(call_table.at(index_of(Call::Init)).share == Share::init);
    CHECK(call_table.at(index_of(Call::File_read_at)).share == Share::io);
}
