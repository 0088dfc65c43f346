// SPDX-License-Identifier: Apache-2.0
#include "slices/os/partner.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <exception>
#include <stdexcept>
#include <utility>

#include "common/processors.hpp"
#include "common/system.hpp"

namespace tare::slices {

namespace {

/// The parent may have died before the kernel was asked to say so. Its turns and answers are not the
/// partner's to hold open.
void live_as_partner(pid_t parent) {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) {
        ::_exit(1);
    }
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
}

[[noreturn]] void work_and_end(const std::function<void()>& work) {
    try {
        work();
    } catch (const std::exception& error) {
        complain("slices", error.what());
        ::_exit(1);
    }
    ::_exit(0);
}

pid_t start(const std::function<void()>& work) {
    const pid_t parent = ::getpid();
    const pid_t partner = ::fork();
    if (partner < 0) {
        throw_errno("cannot start a partner process");
    }
    if (partner == 0) {
        live_as_partner(parent);
        work_and_end(work);
    }
    return partner;
}

}  // namespace

Partner::Partner(const std::function<void()>& work) : process_{start(work)} {}

Partner::Partner(Partner&& other) noexcept : process_{std::exchange(other.process_, -1)} {}

Partner& Partner::operator=(Partner&& other) noexcept {
    std::swap(process_, other.process_);
    return *this;
}

Partner::~Partner() {
    if (process_ > 0) {
        ::kill(process_, SIGKILL);
        while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
}

/// WNOWAIT leaves it to the destructor.
void Partner::require_alive() const {
    siginfo_t ended{};
    if (::waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        ended.si_pid != 0) {
        throw std::runtime_error("a partner process has ended before its time");
    }
}

std::int64_t Partner::cpu_ns() const {
    constexpr std::int64_t nanosecond_per_second = 1'000'000'000;
    clockid_t clock = 0;
    timespec used{};
    if (::clock_getcpuclockid(process_, &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
        throw std::runtime_error("the CPU time of a partner process cannot be read");
    }
    return used.tv_sec * nanosecond_per_second + used.tv_nsec;
}

OnOneProcessor::OnOneProcessor() : before_{ProcessorSet::of_caller()} {
    if (ProcessorSet{std::vector{before_.back()}}.bind_caller() != 0) {
        throw_errno("cannot work on a single processor");
    }
}

OnOneProcessor::~OnOneProcessor() { static_cast<void>(ProcessorSet{before_}.bind_caller()); }

Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw_errno("cannot make a pipe");
    }
    return {.out = FileDescriptor{ends[0]}, .in = FileDescriptor{ends[1]}};
}

bool receive(const FileDescriptor& from, std::span<std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::read(from.number(), bytes.data(), bytes.size());
        if (count == 0) {
            return false;
        }
        if (count < 0 && errno != EINTR) {
            throw_errno("cannot read from a partner process");
        }
        bytes = bytes.subspan(count < 0 ? 0 : static_cast<std::size_t>(count));
    }
    return true;
}

void send(const FileDescriptor& into, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(into.number(), bytes.data(), bytes.size());
        if (count < 0 && errno != EINTR) {
            throw_errno("cannot write to a partner process");
        }
        bytes = bytes.subspan(count < 0 ? 0 : static_cast<std::size_t>(count));
    }
}

}  // namespace tare::slices
