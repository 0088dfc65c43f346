// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "mpiio/options.hpp"
#include "mpiio/pattern.hpp"
#include "mpiio/places.hpp"

namespace {

using namespace tare::mpiio;
using tare::tests::Arguments;

std::vector<std::byte> filled(std::size_t size, const Source& source, std::uint64_t place) {
    std::vector<std::byte> bytes(size);
    fill(bytes, source, place);
    return bytes;
}

TEST_CASE("the records of all ranks cover a shared file once, each byte") {
    for (const Pattern pattern : {Pattern::strided, Pattern::segmented}) {
        constexpr int ranks = 3;
        constexpr std::uint64_t record_byte = 5;
        std::set<std::uint64_t> begun;
        Share share{.pattern = pattern, .ranks = ranks, .record_byte = record_byte, .records = 4};
        for (share.rank = 0; share.rank < ranks; ++share.rank) {
            for (std::uint64_t record = 0; record < share.records; ++record) {
                begun.insert(place_of(share, record));
            }
        }
        CHECK(begun.size() == 12);
        CHECK(*begun.begin() == 0);
        CHECK(*begun.rbegin() + record_byte == file_byte(share));
        CHECK(*std::next(begun.begin()) == record_byte);
    }
}

TEST_CASE("strided records take turns, segmented ones follow their own rank's") {
    Share share{.pattern = Pattern::strided, .rank = 1, .ranks = 2, .record_byte = 10, .records = 3};
    CHECK(place_of(share, 0) == 10);
    CHECK(place_of(share, 2) == 50);
    share.pattern = Pattern::segmented;
    CHECK(place_of(share, 0) == 30);
    CHECK(place_of(share, 2) == 50);
    share.pattern = Pattern::own;
    CHECK(place_of(share, 2) == 20);
    CHECK(file_byte(share) == 30);
}

TEST_CASE("of a shared file every rank's records are read once, by a rank of another node") {
    for (const int nodes : {2, 3, 4}) {
        for (const int in_each : {1, 2, 3}) {
            const int ranks = nodes * in_each;
            std::set<int> writers;
            for (int rank = 0; rank < ranks; ++rank) {
                const int writer = read_from(Pattern::strided, rank, ranks);
                CHECK(writer / in_each != rank / in_each);
                CHECK(read_from(Pattern::own, rank, ranks) == rank);
                writers.insert(writer);
            }
            CHECK(writers.size() == static_cast<std::size_t>(ranks));
        }
    }
    CHECK(read_from(Pattern::segmented, 0, 1) == 0);
}

TEST_CASE("a byte depends on its place, not on the record that it is in") {
    const Source source{.seed = 7, .rank = 2};
    const auto whole = filled(100, source, 1000);
    for (std::size_t first = 0; first < 20; ++first) {
        for (std::size_t size = 0; size < 20; ++size) {
            const auto part = filled(size, source, 1000 + first);
            CHECK(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(first)));
        }
    }
}

TEST_CASE("what was filled is right, and every changed byte is counted") {
    const Source source{.seed = 1, .rank = 0};
    auto bytes = filled(4096 + 3, source, 5);
    CHECK(count_wrong(bytes, source, 5) == 0);
    for (const std::size_t changed : {std::size_t{0}, std::size_t{7}, std::size_t{4098}}) {
        bytes[changed] ^= std::byte{1};
    }
    CHECK(count_wrong(bytes, source, 5) == 3);
}

TEST_CASE("bytes of another place, rank or seed, and zeros, are nearly all wrong") {
    constexpr std::size_t size = 4096;
    constexpr std::size_t least = size - size / 32;
    const Source source{.seed = 1, .rank = 1};
    const auto bytes = filled(size, source, 0);
    CHECK(count_wrong(bytes, source, 8) > least);
    CHECK(count_wrong(bytes, source, 1) > least);
    CHECK(count_wrong(bytes, Source{.seed = 1, .rank = 0}, 0) > least);
    CHECK(count_wrong(bytes, Source{.seed = 2, .rank = 1}, 0) > least);
    CHECK(count_wrong(std::vector<std::byte>(size), source, 0) > least);
}

TEST_CASE("options are pairs of name and value") {
    const Options options = parse_options(Arguments{
        "--operation", "read", "--pattern", "segmented", "--collective", "on", "--size", "4096", "--records",
        "1024,2048", "--seed", "9", "--directory", "/var/data", "--repetitions", "3", "--drop", "on"}
                                              .span());
    CHECK(options.operation == Operation::read);
    CHECK(options.pattern == Pattern::segmented);
    CHECK(options.collective);
    CHECK(options.drop);
    CHECK(options.size_byte == 4096);
    CHECK(options.records == std::vector<std::uint64_t>{1024, 2048});
    CHECK(options.repetitions == 3);
    CHECK(options.seed == 9);
    CHECK(options.directory == "/var/data");
}

TEST_CASE("options that fit nothing are refused") {
    const std::vector<std::vector<std::string>> all{
        {"--operation", "erase"},    {"--size", "0"},       {"--size", "1.5"},
        {"--records", "1024,"},      {"--records", "3000"},  // of a MiB
        {"--records", "4294967296"}, {"--directory"},       {"--colour", "on"},
        {"--direct", "on"},          {"--name", "a/b"},     {"--interface", "posix", "--collective", "on"}};
    for (const auto& words : all) {
        CAPTURE(words.front());
        CHECK_THROWS_AS(parse_options(Arguments{words}.span()), std::invalid_argument);
    }
}

}  // namespace
