// SPDX-License-Identifier: Apache-2.0
// Enters control groups, then becomes a command: join FILE... -- COMMAND ARGUMENT...
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string>
#include <string_view>

#include "common/exec.hpp"
#include "common/file_descriptor.hpp"
#include "common/system.hpp"

namespace {

constexpr std::string_view program = "join";

/// Moves this process into the group of a cgroup.procs file, where 0 means the writer (cgroups(7)).
bool enter(const char* file) {
    const tare::FileDescriptor group{::open(file, O_WRONLY | O_CLOEXEC)};
    if (group && ::write(group.number(), "0", 1) == 1) {
        return true;
    }
    tare::complain(program, std::string{"cannot enter '"} + file + "': " + tare::error_text(errno));
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    const std::span<char* const> arguments{argv, static_cast<std::size_t>(argc)};
    const auto separator =
        std::find_if(arguments.begin(), arguments.end(), [](std::string_view text) { return text == "--"; });
    const auto files = static_cast<std::size_t>(separator - arguments.begin());
    if (files + 1 >= arguments.size()) {
        tare::complain(program, "write: join FILE... -- COMMAND ARGUMENT...");
        return tare::exit_wrong_use;
    }
    for (const char* const file : arguments.subspan(1, files - 1)) {
        if (!enter(file)) {
            return tare::exit_cannot_prepare;
        }
    }
    return tare::become(program, arguments.subspan(files + 1));
}
