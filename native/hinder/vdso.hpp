// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace tare::hinder {

/// Runs the command, and all that it starts as long as it runs, without the kernel's shared object (vdso(7)),
/// so that reading a clock needs a system call: takes AT_SYSINFO_EHDR out of the auxiliary vector of each
/// program that is started. As `run_followed`.
[[nodiscard]] int run_without_vdso(std::span<char* const> command);

}  // namespace tare::hinder
