// SPDX-License-Identifier: Apache-2.0
#include "common/exec.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>

#include "common/system.hpp"

namespace tare {

int become(std::string_view program, std::span<char* const> arguments) {
    ::execvp(arguments.front(), arguments.data());
    complain(program, std::string{"cannot execute '"} + arguments.front() + "': " + error_text(errno));
    return exit_cannot_execute;
}

}  // namespace tare
