// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tare {

/// The text of an errno(3) value.
[[nodiscard]] std::string error_text(int error_number);

/// Throws `std::system_error` for the present errno; `what` says what could not be done.
[[noreturn]] void throw_errno(const std::string& what);

/// Whether the present errno says that a nonblocking call had nothing to do yet, or was interrupted.
[[nodiscard]] bool would_wait();

/// CLOCK_MONOTONIC_RAW: not slewed by NTP, so equal stretches of time read equal.
[[nodiscard]] std::int64_t monotonic_raw_ns();

/// Writes all of `text`, waiting at most `limit` for a slow reader; false when it cannot be written.
[[nodiscard]] bool write_all(int descriptor, std::string_view text, std::chrono::milliseconds limit);

/// Prints `program: message` to standard error.
void complain(std::string_view program, std::string_view message);

/// The text of a file that reports no size, as in /proc; nothing if it cannot be read.
[[nodiscard]] std::optional<std::string> read_text(const std::filesystem::path& path);

/// `text` without the blanks and line ends around it.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace tare
