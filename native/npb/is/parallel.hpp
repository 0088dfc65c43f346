// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>
#include <vector>

namespace tare::npb::is {

/// Calls `work(thread)` for the threads 0 to `threads` - 1 at once, 0 in the caller's thread; ends when all
/// have ended. `work` throws nothing and sends no messages.
template <typename Work>
void in_parallel(int threads, const Work& work) {
    std::vector<std::jthread> others;
    for (int thread = 1; thread < threads; ++thread) {
        others.emplace_back([&work, thread] { work(thread); });
    }
    work(0);
}

}  // namespace tare::npb::is
