// SPDX-License-Identifier: Apache-2.0
#include "npb/common/buffer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <utility>

using tare::npb::Buffer;

namespace {

constexpr std::size_t huge_page_byte = std::size_t{2} << 20U;

std::size_t offset_of(const void* place, std::size_t alignment_byte) {
    return std::bit_cast<std::uintptr_t>(place) % alignment_byte;
}

}  // namespace

TEST_CASE("buffers of every size hold zeros and begin at a cache line") {
    for (const std::size_t count : {1U, 7U, 4096U, 262144U, 300001U}) {
        const Buffer<double> buffer{count};
        CHECK(buffer.size() == count);
        CHECK(buffer.span().size() == count);
        CHECK(offset_of(buffer.data(), tare::npb::buffer_alignment_byte) == 0);
        CHECK(std::ranges::all_of(buffer.span(), [](double value) { return value == 0; }));
    }
}

TEST_CASE("memory that was used before comes back as zeros") {
    for (int round = 0; round < 3; ++round) {
        Buffer<int> buffer{1000};
        CHECK(std::ranges::count(buffer.span(), 0) == 1000);
        std::ranges::fill(buffer.span(), 7);
    }
}

TEST_CASE("a large buffer begins at a huge page") {
    const Buffer<double> buffer{huge_page_byte / sizeof(double)};
    CHECK(offset_of(buffer.data(), huge_page_byte) == 0);
}

TEST_CASE("a moved buffer keeps its place and its values") {
    Buffer<int> first{3};
    first.span()[2] = 5;
    const int* const place = first.data();
    Buffer<int> second;
    second = std::move(first);
    CHECK(second.data() == place);
    CHECK(second.span()[2] == 5);
}

TEST_CASE("an empty buffer has no values") {
    CHECK(Buffer<double>{}.span().empty());
    CHECK(Buffer<double>{0}.span().empty());
}

TEST_CASE("more memory than a program can have is bad_alloc") {
    CHECK_THROWS_AS(Buffer<double>{std::numeric_limits<std::size_t>::max() / 2}, std::bad_alloc);
    CHECK_THROWS_AS(Buffer<double>{std::numeric_limits<std::size_t>::max() / 16}, std::bad_alloc);
}
