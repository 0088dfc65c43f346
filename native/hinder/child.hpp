// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>

#include <string_view>

namespace tare::hinder {

/// The name in what it complains of.
inline constexpr std::string_view program = "hinder";

/// The exit code for a status of waitpid(2): the command's own, or 128 and the number of the signal that
/// ended it (the shell's, POSIX XCU 2.8.2).
[[nodiscard]] inline int exit_code(int status) {
    constexpr int signalled = 128;
    return WIFSIGNALED(status) ? signalled + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace tare::hinder
