// SPDX-License-Identifier: Apache-2.0
#include "guest/system_commands.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include "common/system.hpp"
#include "guest/launch.hpp"
#include "guest/supervise.hpp"

namespace tare::guest {

namespace {

constexpr rlim_t wanted_files = 4096;  // four pipes for each stream, and some
constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;

void allow_many_files() {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = std::max(files.rlim_cur, std::min(wanted_files, files.rlim_max));
    ::setrlimit(RLIMIT_NOFILE, &files);
}

/// A pipe with the number of a standard file would be lost when a child takes that for itself.
void open_standard_files() {
    int number = 0;
    while ((number = ::open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0 && number <= STDERR_FILENO) {
    }
    ::close(number);
}

/// None is ignored, as commands inherit that, and no death would be told; all wait.
void block_signals() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, nullptr);
    for (int number = 1; number <= SIGRTMAX; ++number) {
        static_cast<void>(::signal(number, SIG_DFL));
    }
}

}  // namespace

Process SystemCommands::start(const channel::Execute& command) { return launch(command, groups_); }

void SystemCommands::signal(const Process& process, int number) {
    if (!process.group) {
        signal_supervised(process.id, number);
    } else if (::kill(-process.id, number) != 0 && errno == ESRCH) {
        ::kill(process.id, number);  // it has not made its session yet
    }
}

void SystemCommands::kill_all(Process& process) {
    if (process.group) {
        process.group->kill();
    } else {
        kill_supervised(process.id);
    }
}

std::vector<Ended> SystemCommands::reap() {
    std::vector<Ended> all;
    Ended one;
    while ((one.id = ::waitpid(-1, &one.status, WNOHANG)) > 0) {
        all.push_back(one);
    }
    groups_.sweep();
    return all;
}

void SystemCommands::forget(Process process) {
    if (process.group) {
        groups_.give_back(*std::move(process.group));
    }
}

void SystemCommands::set_clock(std::uint64_t real_time_ns) {
    if (owns_clock_) {
        const timespec now{.tv_sec = static_cast<time_t>(real_time_ns / nanoseconds_per_second),
                           .tv_nsec = static_cast<long>(real_time_ns % nanoseconds_per_second)};
        ::clock_settime(CLOCK_REALTIME, &now);
    }
}

FileDescriptor prepare_to_serve() {
    open_standard_files();
    allow_many_files();
    block_signals();
    sigset_t death;
    ::sigemptyset(&death);
    ::sigaddset(&death, SIGCHLD);
    FileDescriptor deaths{::signalfd(-1, &death, SFD_NONBLOCK | SFD_CLOEXEC)};
    if (!deaths) {
        throw_errno("cannot learn of ended commands");
    }
    return deaths;
}

}  // namespace tare::guest
