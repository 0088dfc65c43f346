// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>

namespace tare::stopwatch {

[[nodiscard]] std::int64_t as_ns(const timespec& time);

/// What the node's kernel counts time with; nothing where it shows none (gVisor).
[[nodiscard]] std::optional<std::string> clock_source();

/// What the clocks of the node say, read one right after the other, as one JSON object (clock_gettime(2)).
[[nodiscard]] std::string clock_readings();

/// Ticks in which a hypervisor ran something else than a processor of this kernel: the eighth number of the
/// first line of /proc/stat (proc(5)). Nothing when the text has none.
[[nodiscard]] std::optional<std::uint64_t> steal_ticks(const std::string& statistics);

/// Those ticks since the node's kernel started and how many make a second, as one JSON object.
[[nodiscard]] std::string stolen_time();

}  // namespace tare::stopwatch
