// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/restrictions.hpp"

namespace tare::stopwatch {

constexpr std::string_view how_to_use =
    "write: stopwatch [--directory DIR] [--stdin FILE] [--stdout FILE] [--stderr FILE] "
    "[--env NAME=VALUE]... [--processors LIST] [--limit-s S] [--grace-s S] [--file-limit-byte N] [--user "
    "UID:GID] "
    "[--limit NAME=NUMBER]... [--turns yes|no] -- COMMAND ARGUMENT...";

using Seconds = std::chrono::duration<double>;
constexpr Seconds usual_grace{2.0};

/// What to run and how, as the command line states it.
struct Options {
    std::string directory;                 ///< Empty: stay. The two files below are relative to it.
    std::string stdin_file = "/dev/null";  ///< Opened with the command's own rights.
    std::string stdout_file = "/dev/null";
    std::string stderr_file = "/dev/null";
    std::vector<std::string> variables;  ///< NAME=VALUE, each NAME once; all that the command gets.
    std::vector<int> processors;         ///< Empty: the stopwatch's own.
    std::optional<Seconds> limit;
    Seconds grace = usual_grace;
    std::optional<std::uint64_t> file_limit_byte;
    Restrictions restrictions;  ///< Of the command; the stopwatch itself stays as it is.
    bool turns = false;         ///< The command reads turns and answers them; see `Turns`.
    std::vector<std::string> command;
};

/// The command line is wrong; the text says where.
class WrongUse : public std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// Reads the arguments that follow the program's name; throws `WrongUse`.
[[nodiscard]] Options parse_options(std::span<char* const> arguments);

}  // namespace tare::stopwatch
