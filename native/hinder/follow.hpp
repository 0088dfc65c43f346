// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace tare::hinder {

/// What is done to each program right before its first instruction; whether it is followed further. May throw
/// `std::system_error`, whose ESRCH says that the process was killed meanwhile.
using AtStart = std::function<bool(pid_t process)>;

/// Runs the command, and follows it and all that it starts by ptrace(2). Gives the command's exit code, 128
/// and the signal's number where a signal ended it; throws `std::system_error`. The command does not outlive
/// the caller.
[[nodiscard]] int run_followed(std::span<char* const> command, const AtStart& at_start);

/// Of a stopped process; nothing where its program is not of this machine's own width.
[[nodiscard]] std::optional<user_regs_struct> registers_of(pid_t process);
void set_registers(pid_t process, user_regs_struct registers);

[[nodiscard]] std::uint64_t word_at(pid_t process, std::uint64_t address);
void set_word(pid_t process, std::uint64_t address, std::uint64_t word);

/// Lets it run to where it stops next, with `signal` or none; gives the signal that stopped it. Throws ESRCH
/// where it ended instead.
[[nodiscard]] int run_to_stop(pid_t process, int signal);

/// Lets it run, and is its tracer no longer.
void leave_alone(pid_t process);

}  // namespace tare::hinder
