// SPDX-License-Identifier: Apache-2.0
// What an operating system does for a program, an operation each: after McVoy and Staelin, "lmbench: Portable
// Tools for Performance Analysis", USENIX 1996. docs/os.md says what a unit of each is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "slices/piece.hpp"

namespace tare::slices {

constexpr std::uint64_t most_ring = 96;
constexpr std::uint64_t most_working_set_byte = std::uint64_t{64} << 10U;
constexpr std::uint64_t most_file_byte = std::uint64_t{1} << 20U;

/// Unit: fork(2), _exit(2) in the child, waitpid(2).
[[nodiscard]] std::unique_ptr<Piece> make_fork_exit();
/// Unit: the same, and the child executes `program`, which with --exit does nothing else.
[[nodiscard]] std::unique_ptr<Piece> make_fork_exec(std::string program);
/// Unit: the same, and the child executes the shell, which executes `program`.
[[nodiscard]] std::unique_ptr<Piece> make_fork_shell(std::string program);

/// Unit: one hop of a token round so many processes on one processor, each of which reads it from a pipe,
/// sums its working set, and writes it to the next. With one process there is no switch.
[[nodiscard]] std::unique_ptr<Piece> make_context_switch(std::uint64_t ring, std::uint64_t working_set_byte);

/// Unit: 8 byte to another process on the same processor and back.
[[nodiscard]] std::unique_ptr<Piece> make_pipe_round_trip();
[[nodiscard]] std::unique_ptr<Piece> make_unix_round_trip();
[[nodiscard]] std::unique_ptr<Piece> make_tcp_round_trip();

/// Unit: another thread on the same processor is woken, and wakes this one.
[[nodiscard]] std::unique_ptr<Piece> make_futex_round_trip();
/// Unit: a thread started and joined.
[[nodiscard]] std::unique_ptr<Piece> make_thread_start();

/// Unit: one personality(2) that asks and changes nothing: filters compare its argument, so that the kernel
/// cannot keep their answer.
[[nodiscard]] std::unique_ptr<Piece> make_filtered_calls();
/// Unit: openat(2) of /dev/null and close(2).
[[nodiscard]] std::unique_ptr<Piece> make_open_close();
/// Unit: one reading of CLOCK_MONOTONIC as programs do it, by the vDSO where there is one.
[[nodiscard]] std::unique_ptr<Piece> make_clock();
/// Unit: one nanosleep(2) of a microsecond with the shortest timer slack: what is above 1 us is the timer's.
[[nodiscard]] std::unique_ptr<Piece> make_sleep();

/// Unit: one sigaction(2).
[[nodiscard]] std::unique_ptr<Piece> make_signal_install();
/// Unit: one signal that the thread sends itself, and its handler's run.
[[nodiscard]] std::unique_ptr<Piece> make_signal_deliver();

/// Unit: the first write to a page of anonymous memory, and its share of giving all pages back.
[[nodiscard]] std::unique_ptr<Piece> make_page_fault();
/// The same with huge pages (MADV_HUGEPAGE); throws `std::runtime_error` where the kernel gives none.
[[nodiscard]] std::unique_ptr<Piece> make_huge_page_fault();
/// Unit: mmap(2) of 1 MiB of anonymous memory that nobody touches, and munmap(2).
[[nodiscard]] std::unique_ptr<Piece> make_mapping();

/// Unit: one file of so many bytes created, written and closed in a new folder of the present one.
[[nodiscard]] std::unique_ptr<Piece> make_file_create(std::uint64_t file_byte);
/// Unit: one of these unlinked.
[[nodiscard]] std::unique_ptr<Piece> make_file_delete(std::uint64_t file_byte);

}  // namespace tare::slices
