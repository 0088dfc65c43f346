// SPDX-License-Identifier: Apache-2.0
#include "npb/common/team.hpp"

namespace tare::npb {

namespace {

/// Looks before a thread sleeps, some tens of microseconds, and looks between two offers of the processor to
/// others that may want it.
constexpr int looks = 20000;
constexpr int looks_between_offers = 64;

/// Waits until `number` is no longer `old`.
template <typename Number>
void wait_while(const std::atomic<Number>& number, Number old) {
    for (int look = 0; look < looks; ++look) {
        if (number.load(std::memory_order_acquire) != old) {
            return;
        }
        if (look % looks_between_offers == looks_between_offers - 1) {
            std::this_thread::yield();
        }
    }
    number.wait(old, std::memory_order_acquire);
}

}  // namespace

Team::Team(int threads) : sums_(static_cast<std::size_t>(threads)) {
    for (int thread = 1; thread < threads; ++thread) {
        others_.emplace_back([this, thread] { serve(thread); });
    }
}

/// A round without a task is the last one.
Team::~Team() {
    start({});
    wait_for_all();
}

void Team::serve(int thread) {
    for (unsigned seen = 0;; ++seen) {
        wait_while(round_, seen);
        const Task task = task_;
        if (task.function != nullptr) {
            task.function(task.work, thread);
        }
        if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            running_.notify_one();
        }
        if (task.function == nullptr) {
            return;
        }
    }
}

void Team::start(Task task) {
    if (others_.empty()) {
        return;
    }
    task_ = task;
    running_.store(static_cast<int>(others_.size()), std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
}

void Team::wait_for_all() {
    for (int left = running_.load(std::memory_order_acquire); left != 0;
         left = running_.load(std::memory_order_acquire)) {
        wait_while(running_, left);
    }
}

}  // namespace tare::npb
