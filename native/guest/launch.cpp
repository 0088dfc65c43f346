// SPDX-License-Identifier: Apache-2.0
#include "guest/launch.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include "common/exec.hpp"
#include "common/system.hpp"
#include "guest/supervise.hpp"

namespace tare::guest {

namespace {

constexpr mode_t usual_mask = 022;
constexpr rlim_t usual_files = 1024;  // select(2) knows no more
constexpr std::size_t most_shown = 200;

struct Pipe {
    FileDescriptor reader;
    FileDescriptor writer;
};

Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw_errno("cannot make a pipe");
    }
    return {FileDescriptor{ends[0]}, FileDescriptor{ends[1]}};
}

/// One end only: each has flags of its own.
void stop_blocking(const FileDescriptor& end) {
    if (::fcntl(end.number(), F_SETFL, ::fcntl(end.number(), F_GETFL) | O_NONBLOCK) != 0) {
        throw_errno("cannot make a pipe nonblocking");
    }
}

struct Pipes {
    Pipe input = make_pipe();
    Pipe output = make_pipe();
    Pipe error_output = make_pipe();
    Pipe failure = make_pipe();

    Pipes() {
        for (const auto* const ours :
             {&input.writer, &output.reader, &error_output.reader, &failure.reader}) {
            stop_blocking(*ours);
        }
    }
};

/// As a program finds the world that a shell started: no signal blocked (none is ignored here), and a soft
/// limit of open files that is not ours.
void reset_surroundings() {
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::umask(usual_mask);
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = std::min(usual_files, files.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &files);
}

[[noreturn]] void fail(const Pipes& pipes, int number, std::string text) {
    const auto message =
        channel::encode_exit({.how = channel::Exit::How::failed, .number = number, .text = std::move(text)});
    static_cast<void>(::write(pipes.failure.writer.number(), message.data(), message.size()));
    ::_exit(exit_cannot_execute);
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

std::string shown(const std::string& word) { return "'" + word.substr(0, most_shown) + "'"; }

/// Becomes the command. Whatever happens, a child must not go on as if it served.
[[noreturn]] void run(channel::Execute command, const Pipes& pipes) noexcept {
    ::setsid();
    ::dup2(pipes.input.reader.number(), STDIN_FILENO);
    ::dup2(pipes.output.writer.number(), STDOUT_FILENO);
    ::dup2(pipes.error_output.writer.number(), STDERR_FILENO);
    if (::chdir(command.directory.c_str()) != 0) {
        fail(pipes, 0, "cannot enter the directory " + shown(command.directory) + ": " + error_text(errno));
    }
    reset_surroundings();
    auto variables = pointers_to(command.variables);
    const auto arguments = pointers_to(command.arguments);
    environ = variables.data();  // execvp searches the PATH of these, not ours
    ::execvp(arguments.front(), arguments.data());
    const int number = errno;
    fail(pipes, number, "cannot execute " + shown(command.arguments.front()) + ": " + error_text(number));
}

/// fork(2) into the control group. It takes no lock that moving a process between groups would wait for,
/// which can be tens of milliseconds.
pid_t fork_into(const Group& group) {
    clone_args arguments{};
    arguments.flags = CLONE_INTO_CGROUP;
    arguments.exit_signal = SIGCHLD;
    arguments.cgroup = static_cast<std::uint64_t>(group.directory());
    return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

pid_t start_in(const Group& group, const channel::Execute& command, const Pipes& pipes) {
    const pid_t child = fork_into(group);
    if (child == 0) {
        run(command, pipes);
    }
    return child;
}

pid_t start_supervised(const channel::Execute& command, const Pipes& pipes) {
    const pid_t child = ::fork();
    if (child == 0) {
        supervise([&] { run(command, pipes); });
    }
    return child;
}

}  // namespace

Process launch(const channel::Execute& command, Groups& groups) {
    Pipes pipes;
    auto group = groups.take();
    const pid_t child = group ? start_in(*group, command, pipes) : start_supervised(command, pipes);
    if (child < 0) {
        const int number = errno;
        if (group) {
            groups.give_back(*std::move(group));
        }
        errno = number;
        throw_errno("cannot start a process");
    }
    return {.id = child,
            .input = std::move(pipes.input.writer),
            .output = std::move(pipes.output.reader),
            .error_output = std::move(pipes.error_output.reader),
            .failure = std::move(pipes.failure.reader),
            .group = std::move(group)};
}

}  // namespace tare::guest
