// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "channel/frame.hpp"

namespace tare::enter {

constexpr std::string_view how_to_use =
    "write: enter SOCKET [--env NAME=VALUE]... [--directory PATH] -- COMMAND ARGUMENT...";

class WrongUse : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct Options {
    std::string socket;
    /// Its directory is `/` and its only variable PATH, unless the options say otherwise.
    channel::Execute command;
};

/// Reads what follows the program's name; throws `WrongUse`.
[[nodiscard]] Options parse_options(std::span<char* const> arguments);

}  // namespace tare::enter
