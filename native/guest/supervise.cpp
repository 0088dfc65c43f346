// SPDX-License-Identifier: Apache-2.0
#include "guest/supervise.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>

#include "common/exec.hpp"
#include "stopwatch/children.hpp"

namespace tare::guest {

namespace {

constexpr std::chrono::seconds kill_limit{30};

/// The one signal by which a supervisor is told something.
int message() { return SIGRTMAX; }

sigset_t awaited_signals() {
    sigset_t awaited;
    ::sigemptyset(&awaited);
    ::sigaddset(&awaited, SIGCHLD);
    ::sigaddset(&awaited, message());
    return awaited;
}

/// Does what was told: a value is a signal to pass on. Without one, as when the kernel tells of the parent's
/// death, everything is to go.
void obey(const siginfo_t& told, pid_t command) {
    if (told.si_code == SI_QUEUE) {
        const int number = told.si_value.sival_int;
        // Before the command has made its session there is no such group.
        if (::kill(-command, number) != 0 && errno == ESRCH) {
            ::kill(command, number);
        }
        return;
    }
    stopwatch::kill_descendants(kill_limit);
    ::kill(::getpid(), SIGKILL);
}

/// Ends as the command did.
[[noreturn]] void end_as(int status) {
    if (WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        // The number of a fatal signal, without another core file.
        ::prctl(PR_SET_DUMPABLE, 0);
        static_cast<void>(::signal(number, SIG_DFL));
        sigset_t only;
        ::sigemptyset(&only);
        ::sigaddset(&only, number);
        static_cast<void>(::raise(number));
        ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
    }
    ::_exit(WEXITSTATUS(status));
}

/// Lets go of the pipes of every command: what this process held open would never end.
void close_files() {
    constexpr unsigned first = STDERR_FILENO + 1;
    if (::close_range(first, ~0U, 0) == 0) {
        return;
    }
    rlimit files{};  // before Linux 5.9
    ::getrlimit(RLIMIT_NOFILE, &files);
    for (rlim_t number = first; number < files.rlim_cur; ++number) {
        ::close(static_cast<int>(number));
    }
}

/// Reaps what ended; ends with the command.
void reap(pid_t command) {
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0) {
        if (ended == command) {
            end_as(status);
        }
    }
}

}  // namespace

void supervise(const std::function<void()>& run) noexcept {
    const sigset_t awaited = awaited_signals();
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_PDEATHSIG, message());
    const pid_t command = ::fork();
    if (command == 0) {
        run();
    }
    if (command < 0) {
        ::_exit(exit_cannot_prepare);
    }
    close_files();
    for (;;) {
        siginfo_t told{};
        if (::sigwaitinfo(&awaited, &told) == message()) {
            obey(told, command);
        }
        reap(command);
    }
}

void signal_supervised(pid_t supervisor, int number) {
    ::sigqueue(supervisor, message(), {.sival_int = number});
}

void kill_supervised(pid_t supervisor) { ::kill(supervisor, message()); }

}  // namespace tare::guest
