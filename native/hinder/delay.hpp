// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <span>
#include <string_view>

namespace tare::hinder {

/// A system call and what is added to it.
struct Delay {
    int call = -1;
    std::chrono::nanoseconds added{0};
};

/// Reads CALL=MICROSECONDS; throws `std::invalid_argument`. CALL is clone (by which the C library forks),
/// fdatasync or fsync.
[[nodiscard]] Delay parse_delay(std::string_view text);

/// Runs the command, and all that it starts as long as it runs, with each such call held up by a supervisor,
/// as with the filters of system calls by which container managers look at some calls themselves
/// (seccomp_unotify(2)). The supervisor computes while it holds a call up, and takes calls one after the
/// other, so the whole cost of a call is the delay and two changes of process. Gives the command's exit code,
/// 128 and the signal's number where a signal ended it; throws `std::system_error`. The command does not
/// outlive the caller.
[[nodiscard]] int run_delayed(const Delay& delay, std::span<char* const> command);

}  // namespace tare::hinder
