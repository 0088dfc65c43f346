// SPDX-License-Identifier: Apache-2.0
// Enters control groups and a network, then becomes a command:
// join [--into=GROUP] [--net=FILE] FILE... -- COMMAND ARGUMENT...
//
// A process that moves into a version 2 group, or with all its threads into a version 1 group, waits for a
// grace period of the kernel's, some 7 ms (cgroup_threadgroup_rwsem). A lone thread that moves itself into a
// version 1 group by its "tasks" does not (Linux 5.17), and the command of --into is a child, which begins
// in the group: this program waits for it, outside of the group, and ends as it did.
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/exec.hpp"
#include "common/file_descriptor.hpp"
#include "common/system.hpp"

namespace {

constexpr std::string_view program = "join";
constexpr std::string_view group_option = "--into=";
constexpr std::string_view network_option = "--net=";
constexpr int exit_signalled = 128;  // as of the shell (POSIX XCU 2.8.2)

/// Moves this process into the group of a cgroup.procs or tasks file, where 0 means the writer (cgroups(7)).
bool enter_group(const char* file) {
    const tare::FileDescriptor group{::open(file, O_WRONLY | O_CLOEXEC)};
    return group && ::write(group.number(), "0", 1) == 1;
}

/// Joins the network namespace that a file holds (setns(2)).
bool enter_network(const char* file) {
    const tare::FileDescriptor held{::open(file, O_RDONLY | O_CLOEXEC)};
    return held && ::setns(held.number(), CLONE_NEWNET) == 0;
}

/// A child in a version 2 group (clone3(2)): 0 in the child, -1 where the kernel or a filter refuses.
pid_t fork_into(const std::string& group) {
    const tare::FileDescriptor folder{::open(group.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    clone_args asked{};
    asked.flags = CLONE_INTO_CGROUP;
    asked.exit_signal = SIGCHLD;
    asked.cgroup = static_cast<std::uint64_t>(folder.number());
    return folder ? static_cast<pid_t>(::syscall(SYS_clone3, &asked, sizeof asked)) : -1;
}

/// Ends as the child does. Closes its own input and output first: they end for others when the child's do.
int await(pid_t child) {
    for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        ::close(file);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return tare::exit_cannot_prepare;
        }
    }
    return WIFSIGNALED(status) ? exit_signalled + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Nothing where this process goes on: as the child, or moved, where a child cannot begin in the group.
std::optional<int> enter_by_child(const std::string& group) {
    static_cast<void>(std::signal(SIGCHLD, SIG_DFL));  // where it is ignored nobody learns how a child ended
    const pid_t child = fork_into(group);
    if (child > 0) {
        return await(child);
    }
    const std::string file = group + "/cgroup.procs";
    if (child == 0 || enter_group(file.c_str())) {
        return std::nullopt;
    }
    tare::complain(program, "cannot enter '" + file + "': " + tare::error_text(errno));
    return tare::exit_cannot_prepare;
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
        tare::complain(program, "write: join [--into=GROUP] [--net=FILE] FILE... -- COMMAND ARGUMENT...");
        return tare::exit_wrong_use;
    }
    auto words = arguments.subspan(1, files - 1);
    if (const std::string_view first = words.empty() ? "" : words.front(); first.starts_with(group_option)) {
        if (const auto ended = enter_by_child(std::string{first.substr(group_option.size())})) {
            return *ended;
        }
        words = words.subspan(1);
    }
    for (const char* const word : words) {
        if (!enter(word)) {
            return tare::exit_cannot_prepare;
        }
    }
    return tare::become(program, arguments.subspan(files + 1));
}
