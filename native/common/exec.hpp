// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

/// Exit codes of programs that run another program, as of the shell (POSIX XCU 2.8.2).
constexpr int exit_wrong_use = 2;
constexpr int exit_cannot_prepare = 126;
constexpr int exit_cannot_execute = 127;

/// Becomes the command `arguments`, found on PATH. Returns only on failure: complains, gives the exit code.
/// `arguments` must end where the null pointer that ends argv stands.
[[nodiscard]] int become(std::string_view program, std::span<char* const> arguments);

/// The words as execve(2) wants them; they must outlive what is given.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& words);

}  // namespace tare
