// SPDX-License-Identifier: Apache-2.0
// Counting at a time when the program can do nothing: it need not be done when it can.
#pragma once

#include "profile/library/profile.hpp"

namespace tare::profile {

/// What a test of requests said.
struct Tested {
    int code;
    int is_over;

    /// Whether nothing is left to wait for.
    [[nodiscard]] bool is_last() const { return code != MPI_SUCCESS || is_over != 0; }
};

/// Counts the journal as long as `test` says that there is something to wait for.
template <typename Test>
[[gnu::noinline, gnu::cold]] Tested count_and_test(Profile& profile, Test test) {
    Tested tested{};
    do {
        tested = test();
    } while (!tested.is_last() && profile.settle_some());
    return tested;
}

}  // namespace tare::profile
