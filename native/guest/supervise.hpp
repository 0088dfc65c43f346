// SPDX-License-Identifier: Apache-2.0
// How a command is held together where control groups cannot: a process of our own between it and us, to
// which everything falls that the command's children leave behind (PR_SET_CHILD_SUBREAPER, prctl(2)).
#pragma once

#include <sys/types.h>

#include <functional>

namespace tare::guest {

/// The body of a supervisor: calls `run` in a child, and ends as that ended. Meanwhile it does what
/// `tell_supervisor` says, and kills everything when its parent dies.
[[noreturn]] void supervise(const std::function<void()>& run) noexcept;

/// Signals the supervised command's process group.
void signal_supervised(pid_t supervisor, int number);

/// Kills the command and all that it started; the supervisor ends then.
void kill_supervised(pid_t supervisor);

}  // namespace tare::guest
