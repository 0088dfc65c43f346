// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <bit>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "slices/memory/evidence.hpp"
#include "slices/memory/pieces.hpp"
#include "slices/memory/polynomial.hpp"
#include "slices/serve.hpp"

namespace {

using namespace tare::slices;

std::uint64_t done(Piece& piece, std::uint64_t count) {
    piece.work(count);
    return piece.checksum();
}

TEST_CASE("a power of x is as many steps from 1, and they repeat after RandomAccess's period") {
    Polynomial power = 1;
    for (std::uint64_t steps = 0; steps < 200; ++steps) {
        CHECK(power_of_x(steps) == power);
        power = times_x(power);
    }
    CHECK(times_x(std::uint64_t{1} << 63U) == 7);
    CHECK(power_of_x(1317624576693539401ULL) == 1);
}

TEST_CASE("equal slices of every piece say the same, and others say another thing") {
    Memory memory{{}};
    Pieces pieces{memory_makers(memory, 1)};
    for (const char* const name :
         {"copy:16384", "scale:16384", "add:16384", "triad:16384", "triad:5000000", "bandwidth",
          "updates:65536", "random", "chase:16384:64", "chase:65536:4096"}) {
        CAPTURE(name);
        Piece& piece = pieces.use(name);
        const auto first = done(piece, 3);
        CHECK(done(piece, 4) != first);
        CHECK(done(piece, 3) == first);
    }
    CHECK_NOTHROW(pieces.verify());
}

TEST_CASE("a size and a stride that cannot be, and numbers that are missing, are refused") {
    Memory memory{{}};
    Pieces pieces{memory_makers(memory, 1)};
    for (const char* const name :
         {"triad", "triad:", "triad:x", "triad:1:2", "triad:100", "bandwidth:5", "updates:1000",
          "updates:512", "chase:4096", "chase:4096:8", "chase:64:64", "chase:4096:0", "sort:5"}) {
        CAPTURE(name);
        CHECK_THROWS_AS(pieces.use(name), std::invalid_argument);
    }
}

TEST_CASE("a chase comes back after as many loads as it has places") {
    Memory memory{{}};
    const auto chase = make_chase(4096, 64, memory);
    CHECK(done(*chase, 63) == 63);
    CHECK(done(*chase, 64) == 0);
    CHECK(done(*chase, 65) == 1);
}

/// All words of the memory's only piece.
std::span<std::uint64_t> words(const Memory& memory) {
    const Region region = memory.regions().front();
    return {std::bit_cast<std::uint64_t*>(region.begin), region.size_byte / sizeof(std::uint64_t)};
}

TEST_CASE("an operation whose result is wrong, or that did not write, is refused") {
    for (const char* const operation : {"copy", "scale", "add", "triad"}) {
        CAPTURE(operation);
        Memory memory{{}};
        const auto stream = make_stream(operation, 16384, memory);
        stream->work(1);
        CHECK_NOTHROW(static_cast<void>(stream->checksum()));
        CHECK_THROWS_AS(static_cast<void>(stream->checksum()), std::runtime_error);
    }
}

TEST_CASE("of random updates 1 % of the words may be wrong, and no more") {
    Memory memory{{}};
    const auto updates = make_random(8192, memory);
    for (const std::uint64_t count : {2, 10, 2, 10, 10}) {
        updates->work(count);
    }
    words(memory)[0] ^= 1;
    for (std::size_t word = 1; word < 10; ++word) {
        words(memory)[word] += 1;
    }
    CHECK_NOTHROW(updates->verify());
    words(memory)[10] += 1;
    CHECK_THROWS_AS(updates->verify(), std::runtime_error);
}

TEST_CASE("a load that leads elsewhere is refused") {
    Memory memory{{}};
    const auto chase = make_chase(4096, 64, memory);
    for (std::size_t stop = 0; stop < 64; ++stop) {
        words(memory)[stop * 8] = memory.regions().front().begin;
    }
    chase->work(5);
    CHECK_THROWS_AS(static_cast<void>(chase->checksum()), std::runtime_error);
}

TEST_CASE("huge pages are counted in the mappings of the regions alone") {
    const std::string smaps =
        "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \n"
        "Size:               4096 kB\nAnonHugePages:      4096 kB\n"
        "7f0000400000-7f0000800000 rw-p 00000000 00:00 0    [anon: x]\n"
        "AnonHugePages:      2048 kB\n";
    CHECK(huge_page_byte(smaps, std::vector<Region>{{0x7f0000200000, 4096}}) == std::uint64_t{4096} * 1024);
    CHECK(huge_page_byte(smaps, std::vector<Region>{{0x7f0000200000, 4096}, {0x7f0000600000, 4096}}) ==
          std::uint64_t{6144} * 1024);
    CHECK_FALSE(huge_page_byte(smaps, std::vector<Region>{{0x7f0000800000, 4096}}).has_value());
    CHECK_FALSE(huge_page_byte("", std::vector<Region>{{0x7f0000800000, 4096}}).has_value());
}

TEST_CASE("a mapping of numa_maps reaches to the next one") {
    const std::string maps =
        "7f0000000000 default anon=3 dirty=3 N0=1 N1=2 kernelpagesize_kB=4\n"
        "7f0000010000 bind:1 anon=5 N1=5 kernelpagesize_kB=4\n"
        "7f0000020000 default file=/usr/lib/N2=7 mapped=9 N0=9 kernelpagesize_kB=4\n"
        "no line of it\n";
    using Bytes = std::map<int, std::uint64_t>;
    CHECK(node_byte(maps, std::vector<Region>{{0x7f0000001000, 4096}}) == Bytes{{0, 4096}, {1, 8192}});
    CHECK(node_byte(maps, std::vector<Region>{{0x7f0000010000, 4096}}) == Bytes{{1, 20480}});
    CHECK(node_byte(maps, std::vector<Region>{{0x7e0000010000, 4096}}).empty());
}

TEST_CASE("memory says how much there is and what the kernel says of it") {
    Memory memory{{.huge_pages = false, .numa_node = {}, .processor_node = {}}};
    CHECK(memory.evidence().empty());
    memory.elements<char>(8192).front() = 1;
    CHECK(memory.evidence().starts_with("memory 8192 huge "));
}

TEST_CASE("a NUMA node that is not here is refused") {
    CHECK_THROWS_AS((Memory{{.huge_pages = {}, .numa_node = 1000, .processor_node = {}}}),
                    std::invalid_argument);
}

}  // namespace
