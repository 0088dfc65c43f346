// SPDX-License-Identifier: Apache-2.0
// Counting at a time when the program can do nothing: it need not be done when it can.
#pragma once

#include "profile/library/profile.hpp"

namespace tare::profile {

/// Waits by `next`. As long as `test` finds that there is something to wait for, the journal is counted.
template <typename Next, typename Test>
[[gnu::noinline, gnu::cold]] int count_and_wait(Profile& profile, Next next, Test test) {
    int is_over = 0;
    int code = MPI_SUCCESS;
    do {
        code = test(&is_over);
    } while (code == MPI_SUCCESS && is_over == 0 && profile.settle_some());
    return code != MPI_SUCCESS || is_over != 0 ? code : next();
}

template <typename Next, typename Test>
int wait_and_count(Profile& profile, Next next, Test test) {
    return profile.has_backlog() ? count_and_wait(profile, next, test) : next();
}

}  // namespace tare::profile
