// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>

namespace tare::profile {

/// CLOCK_MONOTONIC: read without a system call, and the same clock in all processes of a kernel.
[[nodiscard]] inline std::int64_t now_ns() noexcept {
    constexpr std::int64_t nanosecond_per_second = 1'000'000'000;
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * nanosecond_per_second + now.tv_nsec;
}

/// Names the clock, alike in two processes only if they read the same one; 0 when that cannot be known.
[[nodiscard]] std::uint64_t clock_identity();

}  // namespace tare::profile
