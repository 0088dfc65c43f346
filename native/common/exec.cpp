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

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

}  // namespace tare
