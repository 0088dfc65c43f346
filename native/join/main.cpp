// SPDX-License-Identifier: Apache-2.0
// Enters control groups and a network, then becomes a command: join [--net=FILE] FILE... -- COMMAND
// ARGUMENT...
#include <fcntl.h>
#include <sched.h>
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
constexpr std::string_view network_option = "--net=";

/// Moves this process into the group of a cgroup.procs file, where 0 means the writer (cgroups(7)).
bool enter_group(const char* file) {
    const tare::FileDescriptor group{::open(file, O_WRONLY | O_CLOEXEC)};
    return group && ::write(group.number(), "0", 1) == 1;
}

/// Joins the network namespace that a file holds (setns(2)).
bool enter_network(const char* file) {
    const tare::FileDescriptor held{::open(file, O_RDONLY | O_CLOEXEC)};
    return held && ::setns(held.number(), CLONE_NEWNET) == 0;
}

bool enter(std::string_view word) {
    const bool is_network = word.starts_with(network_option);
    const std::string file{is_network ? word.substr(network_option.size()) : word};
    if (is_network ? enter_network(file.c_str()) : enter_group(file.c_str())) {
        return true;
    }
    tare::complain(program, "cannot enter '" + file + "': " + tare::error_text(errno));
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    const std::span<char* const> arguments{argv, static_cast<std::size_t>(argc)};
    const auto separator =
        std::find_if(arguments.begin(), arguments.end(), [](std::string_view text) { return text == "--"; });
    const auto files = static_cast<std::size_t>(separator - arguments.begin());
    if (files + 1 >= arguments.size()) {
        tare::complain(program, "write: join [--net=FILE] FILE... -- COMMAND ARGUMENT...");
        return tare::exit_wrong_use;
    }
    for (const char* const word : arguments.subspan(1, files - 1)) {
        if (!enter(word)) {
            return tare::exit_cannot_prepare;
        }
    }
    return tare::become(program, arguments.subspan(files + 1));
}
