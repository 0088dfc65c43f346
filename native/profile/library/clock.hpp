// SPDX-License-Identifier: Apache-2.0
// The profiler's clock. A call is timed twice, and in a program that fills the caches with its own data most
// of what that takes is the C library's way to the kernel's clock page. Where the kernel itself tells time by
// the processor's time stamp counter, that is read instead.
#pragma once

#include <cstdint>

namespace tare::profile {

/// CLOCK_MONOTONIC: read without a system call, and the same clock in all processes of a kernel.
[[nodiscard]] std::int64_t now_ns() noexcept;

/// The time stamp counter; 0 on processors that Tare reads none of.
[[nodiscard]] inline std::int64_t now_cycles() noexcept {
#ifdef __x86_64__
    return static_cast<std::int64_t>(__builtin_ia32_rdtsc());
#else
    return 0;
#endif
}

/// One point in time by both clocks: which of them counts is known only when a profile is begun.
struct Moment {
    std::int64_t cycles;
    std::int64_t ns;

    [[nodiscard]] static Moment now() noexcept { return {.cycles = now_cycles(), .ns = now_ns()}; }
};

/// Whether this kernel's own clock is the time stamp counter: then it has found that the counter runs evenly,
/// and alike on all processors.
[[nodiscard]] bool kernel_counts_cycles();

/// Whether the launcher says that all ranks are in one node, and so on one kernel.
[[nodiscard]] bool is_only_node();

/// Counts ticks: cycles or nanoseconds.
class Clock {
  public:
    explicit Clock(bool by_cycles) : by_cycles_{by_cycles} {}

    [[nodiscard]] std::int64_t now() const noexcept {
        if (by_cycles_) [[likely]] {
            return now_cycles();
        }
        return now_ns();
    }
    [[nodiscard]] std::int64_t ticks(const Moment& moment) const {
        return by_cycles_ ? moment.cycles : moment.ns;
    }
    /// As it was between two moments, the better the farther they are apart.
    [[nodiscard]] double ns_per_tick(const Moment& from, const Moment& until) const;
    /// Names the clock, alike in two processes only if they read the same one; 0 when that cannot be known.
    [[nodiscard]] std::uint64_t identity() const;

  private:
    bool by_cycles_;
};

}  // namespace tare::profile
