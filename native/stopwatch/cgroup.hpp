// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace tare::stopwatch {

/// Limits of this process's control groups as far as they are visible from here; nothing: none seen.
struct VisibleLimits {
    std::optional<std::uint64_t> memory_byte;
    std::optional<double> cpu_quota;  ///< Processors' worth of CPU time per wall time.
};

/// The tightest limits along the way up from the own groups (cgroups(7); the kernel's cgroup-v1/memory.rst,
/// scheduler/sched-bwc.rst and cgroup-v2.rst). `membership` is /proc/self/cgroup, `mount` is /sys/fs/cgroup.
[[nodiscard]] VisibleLimits visible_limits(const std::filesystem::path& membership,
                                           const std::filesystem::path& mount);

}  // namespace tare::stopwatch
