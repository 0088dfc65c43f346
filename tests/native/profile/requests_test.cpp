// SPDX-License-Identifier: Apache-2.0
#include "profile/library/requests.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace tare::profile;

namespace {

Tracked tracked(std::uint64_t byte, bool active = true) { return {.active = active, .byte = byte}; }

/// As an allocator gives them: few, at even distances, over and over.
RequestKey some_handle(std::mt19937_64& random, std::uint64_t handles) {
    return 0x7F0000000000 + random() % handles * 0x180;
}

}  // namespace

TEST_CASE("whatever comes and goes, exactly what is there is found") {
    std::mt19937_64 random{1};
    for (const std::uint64_t handles : {3U, 40U, 3000U}) {
        Requests requests;
        std::map<RequestKey, std::uint64_t> known;
        for (int step = 0; step < 20'000; ++step) {
            const RequestKey handle = some_handle(random, handles);
            if (random() % 2 == 0) {
                const std::uint64_t byte = random();
                requests.put(handle, tracked(byte));
                known.insert_or_assign(handle, byte);
            } else {
                requests.remove(handle);
                known.erase(handle);
            }
            const RequestKey asked = some_handle(random, handles);
            const Tracked* const found = requests.find(asked);
            const auto expected = known.find(asked);
            REQUIRE((found == nullptr) == (expected == known.end()));
            REQUIRE((found == nullptr || found->byte == expected->second));
        }
        CHECK(requests.size() == known.size());
    }
}

TEST_CASE("a claimed request is out of its handle's reach, until it is released") {
    Requests requests;
    requests.put(64, tracked(1));
    const RequestKey claimed = requests.claim(64);
    REQUIRE(claimed != 64);
    CHECK(requests.find(64) == nullptr);
    CHECK(requests.find(claimed)->byte == 1);
    requests.release(claimed);
    CHECK(requests.find(claimed) == nullptr);
    CHECK(requests.find(64)->byte == 1);
}

TEST_CASE("a handle that another thread was given meanwhile stays its") {
    Requests requests;
    requests.put(64, tracked(1));
    const RequestKey claimed = requests.claim(64);
    requests.put(64, tracked(2));
    requests.remove(claimed);
    requests.release(claimed);
    CHECK(requests.find(64)->byte == 2);
    CHECK(requests.size() == 1);
}

TEST_CASE("what is unknown or not under way cannot be claimed") {
    Requests requests;
    requests.put(64, tracked(1, false));
    CHECK(requests.claim(64) == 64);
    CHECK(requests.claim(128) == 128);
    requests.release(64);
    CHECK(requests.size() == 1);
}

TEST_CASE("every request that was expected is, and few others are") {
    Expected expected;
    constexpr RequestKey first = 0x7f0000001000;
    constexpr RequestKey apart = 448;
    constexpr int added = 64;
    for (RequestKey number = 0; number < added; ++number) {
        expected.add(first + number * apart);
    }
    int others = 0;
    for (RequestKey number = 0; number < added; ++number) {
        CHECK(expected.has(first + number * apart));
        others += expected.has(2 * first + number * apart) ? 1 : 0;
    }
    CHECK(others < added / 2);
}

TEST_CASE("nothing is expected at first") {
    const Expected expected;
    CHECK_FALSE(expected.has(0));
    CHECK_FALSE(expected.has(64));
}
