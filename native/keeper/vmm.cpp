// SPDX-License-Identifier: Apache-2.0
#include "keeper/vmm.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "common/exec.hpp"
#include "common/system.hpp"

namespace tare::keeper {

namespace {

/// In the child: undoes what this program has set for itself. A signal that is ignored stays so in exec.
void reset_signals() {
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    static_cast<void>(std::signal(SIGPIPE, SIG_DFL));
}

/// In the child. A descriptor made by dup2 stays open in exec; one that has the number already is told to.
bool give_descriptors(int end, int number) {
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    return nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 && ::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 &&
           (end == number ? ::fcntl(end, F_SETFD, 0) : ::dup2(end, number)) >= 0;
}

[[noreturn]] void become_vmm(std::span<char* const> command, int end, int number, pid_t parent) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    reset_signals();
    if (::getppid() != parent || !give_descriptors(end, number)) {
        ::_exit(exit_cannot_prepare);
    }
    ::_exit(become("keeper", command));
}

pid_t start(std::span<char* const> command, int end, int number) {
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
        throw_errno("cannot start a process");
    }
    if (child == 0) {
        become_vmm(command, end, number, parent);
    }
    return child;
}

std::string end_of(int status) {
    return WIFSIGNALED(status) ? " ended by signal " + std::to_string(WTERMSIG(status))
                               : " ended with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Vmm::Vmm(std::span<char* const> command, const FileDescriptor& end, int number)
    : name_{std::filesystem::path{command.front()}.filename().string()},
      process_{start(command, end.number(), number)},
      life_{static_cast<int>(::syscall(SYS_pidfd_open, process_, 0))} {
    if (!life_) {
        ::kill(process_, SIGKILL);
        throw_errno("cannot watch the process just started");
    }
}

Vmm::~Vmm() { kill(); }

std::optional<std::string> Vmm::ended(std::chrono::milliseconds limit) {
    pollfd watched{.fd = life_.number(), .events = POLLIN, .revents = 0};
    int status = 0;
    if (!ended_ && ::poll(&watched, 1, static_cast<int>(limit.count())) == 1 &&
        ::waitpid(process_, &status, WNOHANG) == process_) {
        ended_ = name_ + end_of(status);
    }
    return ended_;
}

void Vmm::kill() {
    constexpr std::chrono::seconds kernel_limit{10};  // such as for what it has locked in memory
    if (!ended_) {
        // Its number is its own until it is reaped; the group may not be there yet.
        ::kill(-process_, SIGKILL);
        ::kill(process_, SIGKILL);
        static_cast<void>(ended(kernel_limit));
    }
}

void write_pid_file(const std::string& path, pid_t process) {
    constexpr mode_t readable = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;
    const FileDescriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, readable)};
    const std::string text = std::to_string(process) + '\n';
    if (!file || ::write(file.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        throw_errno("cannot write '" + path + "'");
    }
}

}  // namespace tare::keeper
