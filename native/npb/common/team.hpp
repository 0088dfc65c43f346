// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <thread>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/share.hpp"

namespace tare::npb {

/// Threads of one rank that do the same work on different parts; the caller's is thread 0. They look for new
/// work for a while before they sleep, because most passes over vectors are shorter than a wake-up.
class Team {
  public:
    explicit Team(int threads);
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    Team(Team&&) = delete;
    Team& operator=(Team&&) = delete;
    ~Team();

    [[nodiscard]] int threads() const { return static_cast<int>(sums_.size()); }
    /// The thread's part of so many things.
    template <std::integral Number>
    [[nodiscard]] Share<Number> part(int thread, Number count) const {
        return share_of(count, threads(), thread);
    }

    /// Calls `work(thread)` in all threads at once; ends when all have ended. `work` throws nothing.
    template <typename Work>
    void run(const Work& work) {
        start({.function = [](const void* known, int thread) { (*static_cast<const Work*>(known))(thread); },
               .work = &work});
        work(0);
        wait_for_all();
    }

    /// The sum of `work(thread)` over all threads, always in the same order.
    template <typename Work>
    [[nodiscard]] double sum(const Work& work) {
        run([&](int thread) { sums_[static_cast<std::size_t>(thread)].value = work(thread); });
        double sum = 0;
        for (const Sum& one : sums_) {
            sum += one.value;
        }
        return sum;
    }

  private:
    struct Task {
        void (*function)(const void* work, int thread) = nullptr;
        const void* work = nullptr;
    };
    /// In a cache line of its own, so that threads don't wait for each other's writes.
    struct alignas(buffer_alignment_byte) Sum {
        double value = 0;
    };

    void serve(int thread);
    void start(Task task);
    void wait_for_all();

    Task task_;
    std::atomic<unsigned> round_ = 0;
    std::atomic<int> running_ = 0;
    std::vector<Sum> sums_;
    std::vector<std::jthread> others_;
};

}  // namespace tare::npb
