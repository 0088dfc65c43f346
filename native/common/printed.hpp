// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tare {

/// The `main` of a program that prints one text: what `compose` makes of all of argv. Complains of what that
/// throws; the exit code is `exit_wrong_use` for `std::invalid_argument` and 1 for any other failure.
[[nodiscard]] int print_composed(std::string_view program, std::string (*compose)(std::span<char* const>),
                                 std::span<char* const> arguments);

}  // namespace tare
