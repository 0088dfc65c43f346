// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tare::keeper {

constexpr std::string_view how_to_use =
    "write: keeper --socket PATH [--ready-limit-s S] --pid-file PATH --descriptor N -- VMM ARGUMENT..., "
    "or keeper --socket PATH [--ready-limit-s S] --connect UNIX_SOCKET";

constexpr std::chrono::minutes default_ready_limit{1};

class WrongUse : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct Options {
    std::string socket;          ///< Where clients come.
    std::string pid_file;        ///< Gets the process id of the VMM.
    std::string connect;         ///< The guest's end, where somebody else runs the VMM.
    int descriptor = -1;         ///< The number of the guest's end in the VMM.
    std::span<char* const> vmm;  ///< Its command; the null pointer that ends argv follows.
    std::chrono::milliseconds ready_limit{default_ready_limit};  ///< From the start to the guest's hello.
};

/// Reads what follows the program's name; throws `WrongUse`.
[[nodiscard]] Options parse_options(std::span<char* const> arguments);

}  // namespace tare::keeper
