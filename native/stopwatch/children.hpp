// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

namespace tare::stopwatch {

/// The calling process's children, dead ones too, from /proc (proc(5)); empty when /proc tells nothing.
[[nodiscard]] std::vector<pid_t> own_children();

/// The same by a search through all processes: for kernels without CONFIG_PROC_CHILDREN.
[[nodiscard]] std::vector<pid_t> searched_children();

/// Kills and reaps all descendants of the calling process, which must be a child subreaper (prctl(2)).
/// Returns how many had to be killed; stops after `limit`, which only unkillable ones reach.
int kill_descendants(std::chrono::milliseconds limit);

}  // namespace tare::stopwatch
