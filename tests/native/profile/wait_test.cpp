// SPDX-License-Identifier: Apache-2.0
#include "profile/wait.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace tare::profile;

TEST_CASE("a wait that the clocks' error may have made up is not claimed, and its length counts as error") {
    const Wait wait = wait_until(100, 1'000, 130, 50);
    CHECK(wait.claimed_ticks == 0);
    CHECK(wait.error_ticks() == 80);
}

TEST_CASE("a longer one is claimed within the error") {
    const Wait wait = wait_until(100, 1'000, 400, 50);
    CHECK(wait.claimed_ticks == 300);
    CHECK(wait.error_ticks() == 50);
}

TEST_CASE("what happened long before, or after the call's end, has no error") {
    CHECK(wait_until(100, 1'000, 20, 50).error_ticks() == 0);
    CHECK(wait_until(100, 1'000, 1'200, 50).claimed_ticks == 900);
    CHECK(wait_until(100, 1'000, 1'200, 50).error_ticks() == 0);
}

TEST_CASE("the true waits of calls for several senders each are within the error") {
    std::mt19937 random{1};
    const auto some = [&](std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>{-most, most}(random);
    };
    for (int round = 0; round < 2000; ++round) {
        const std::int64_t error_ticks = std::abs(some(60));
        Wait known{};
        Wait truth{};
        for (int call = 0; call < 5; ++call) {
            Wait call_known{};
            Wait call_truth{};
            const std::int64_t end_ticks = 100 + std::abs(some(200));
            for (int sender = 0; sender < 3; ++sender) {
                const std::int64_t true_ticks = 150 + some(200);
                call_truth.lengthen(wait_until(100, end_ticks, true_ticks, 0));
                call_known.lengthen(wait_until(100, end_ticks, true_ticks + some(error_ticks), error_ticks));
            }
            known.add(call_known);
            truth.add(call_truth);
        }
        CHECK(truth.error_ticks() == 0);
        CHECK(std::abs(known.claimed_ticks - truth.claimed_ticks) <= known.error_ticks());
    }
}
