// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace tare::hinder {

/// Runs the command, and all that it starts as long as it runs, without the kernel's shared object (vdso(7)),
/// so that reading a clock needs a system call: it follows them by ptrace(2), and takes AT_SYSINFO_EHDR out
/// of the auxiliary vector after each exec. Gives the command's exit code, 128 and the signal's number where
/// a signal ended it; throws `std::system_error`. The command does not outlive the caller.
[[nodiscard]] int run_without_vdso(std::span<char* const> command);

}  // namespace tare::hinder
