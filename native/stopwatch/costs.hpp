// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace tare::stopwatch {

/// Nanoseconds that one call takes by the clock `now_ns`: the median over 15 batches of 100 calls each, of
/// fewer where `limit_ns` would not be enough. Nothing when the clock shows no time between.
[[nodiscard]] std::optional<double> cost_ns(void (*call)(), std::int64_t (*now_ns)(), std::int64_t limit_ns);

/// Of a system call that does next to nothing, getppid(2), made without the C library's help: filters and
/// sandboxes lengthen it. Takes 2.5 ms at most, or what a few calls take.
[[nodiscard]] std::optional<double> system_call_ns();

/// Of reading CLOCK_MONOTONIC as programs do (clock_gettime(2), vdso(7)): a clock that needs a system call,
/// or a slow clock source, lengthens it. Takes 2.5 ms at most, or what a few readings take.
[[nodiscard]] std::optional<double> clock_read_ns();

}  // namespace tare::stopwatch
