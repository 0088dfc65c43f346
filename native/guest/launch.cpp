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
#include <tuple>
#include <utility>
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

/// What a child needs, made before there is one: it may share our memory.
struct Plan {
    explicit Plan(channel::Execute asked) : command{std::move(asked)} {}

    channel::Execute command;
    std::vector<char*> arguments = pointers_to(command.arguments);
    std::vector<char*> variables = pointers_to(command.variables);
    Pipes pipes;
};

void tell_failure(const Plan& plan, int number, const std::string& text) {
    const auto message =
        channel::encode_exit({.how = channel::Exit::How::failed, .number = number, .text = text});
    std::ignore = ::write(plan.pipes.failure.writer.number(), message.data(), message.size());
}

std::string shown(const std::string& word) { return "'" + word.substr(0, most_shown) + "'"; }

/// Becomes the command. Whatever happens, a child must not go on as if it served. Its memory may be ours:
/// what it takes of it, it gives back before it ends.
[[noreturn]] void run(Plan& plan) noexcept {
    ::setsid();
    ::dup2(plan.pipes.input.reader.number(), STDIN_FILENO);
    ::dup2(plan.pipes.output.writer.number(), STDOUT_FILENO);
    ::dup2(plan.pipes.error_output.writer.number(), STDERR_FILENO);
    const auto& [directory, arguments, variables] = plan.command;
    if (::chdir(directory.c_str()) != 0) {
        const int number = errno;
        tell_failure(plan, 0, "cannot enter the directory " + shown(directory) + ": " + error_text(number));
        ::_exit(exit_cannot_execute);
    }
    reset_surroundings();
    environ = plan.variables.data();  // execvp searches the PATH of these, not ours
    ::execvp(plan.arguments.front(), plan.arguments.data());
    const int number = errno;
    tell_failure(plan, number, "cannot execute " + shown(arguments.front()) + ": " + error_text(number));
    ::_exit(exit_cannot_execute);
}

/// As vfork(2): the child has our memory and our stack below this frame, and we stand still until it has
/// become its program. Copying page tables and the pages written afterwards would take as long as all else
/// here. No library does it with a control group (posix_spawnattr_setcgroup_np: glibc 2.39). Not inlined, so
/// that the child writes to nothing that we use.
[[gnu::noinline]] pid_t start_sharing(clone_args& arguments, Plan& plan) {
#ifdef __x86_64__
    arguments.flags |= CLONE_VM | CLONE_VFORK;
    long result = SYS_clone3;
    // NOLINTNEXTLINE(hicpp-no-assembler): a function that makes the call would return twice on one stack
    asm volatile("syscall"
                 : "+a"(result)
                 : "D"(&arguments), "S"(sizeof arguments)
                 : "rcx", "r11", "cc", "memory");
    if (result < 0) {
        errno = static_cast<int>(-result);
        result = -1;
    }
#else
    const long result = ::syscall(SYS_clone3, &arguments, sizeof arguments);
#endif
    if (result == 0) {
        run(plan);
    }
    return static_cast<pid_t>(result);
}

/// Into the control group at once: that takes no lock that moving a process between groups would wait for,
/// which can be tens of milliseconds.
pid_t start_in(const Group& group, Plan& plan) {
    clone_args arguments{};
    arguments.flags = CLONE_INTO_CGROUP;
    arguments.exit_signal = SIGCHLD;
    arguments.cgroup = static_cast<std::uint64_t>(group.directory());
    char** const ours = environ;
    const pid_t child = start_sharing(arguments, plan);
    environ = ours;
    return child;
}

pid_t start_supervised(Plan& plan) {
    const pid_t child = ::fork();
    if (child == 0) {
        supervise([&] { run(plan); });
    }
    return child;
}

}  // namespace

Process launch(const channel::Execute& command, Groups& groups) {
    Plan plan{command};
    auto group = groups.take();
    const pid_t child = group ? start_in(*group, plan) : start_supervised(plan);
    if (child < 0) {
        const int number = errno;
        if (group) {
            groups.give_back(*std::move(group));
        }
        errno = number;
        throw_errno("cannot start a process");
    }
    Pipes& pipes = plan.pipes;
    return {.id = child,
            .input = std::move(pipes.input.writer),
            .output = std::move(pipes.output.reader),
            .error_output = std::move(pipes.error_output.reader),
            .failure = std::move(pipes.failure.reader),
            .group = std::move(group)};
}

}  // namespace tare::guest
