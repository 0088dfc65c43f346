// SPDX-License-Identifier: Apache-2.0
#include "hinder/delay.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include "common/exec.hpp"
#include "common/file_descriptor.hpp"
#include "common/number.hpp"
#include "common/system.hpp"
#include "hinder/child.hpp"

namespace tare::hinder {

namespace {

struct KnownCall {
    std::string_view name;
    int number;
};

constexpr std::array known_calls{KnownCall{"clone", SYS_clone}, KnownCall{"fdatasync", SYS_fdatasync},
                                 KnownCall{"fsync", SYS_fsync}};

#if defined(__x86_64__)
constexpr std::uint32_t own_architecture = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t own_architecture = AUDIT_ARCH_AARCH64;
#endif

/// Installs the filter in this process; gives the descriptor by which its supervisor hears of calls, or a
/// negative errno(3) value. It leaves the processor's mitigations alone, so that it adds this one thing.
int filter(int call) {
    constexpr std::uint8_t next = 0;
    constexpr std::uint8_t to_the_end = 1;
    constexpr std::uint8_t past_the_number = 3;
    std::array program_text{
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own_architecture, next, past_the_number),
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), next, to_the_end),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog text{.len = program_text.size(), .filter = program_text.data()};
    constexpr unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    // Root needs no such promise, and its programs may then go on gaining rights.
    if (::geteuid() != 0 && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return -errno;
    }
    const long listener = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &text);
    return listener < 0 ? -errno : static_cast<int>(listener);
}

/// In the child, which has the parent's own table of descriptors until it becomes the command.
[[noreturn]] void become_filtered(int call, std::span<char* const> command, int key) {
    static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL));
    const int listener = filter(call);
    if (::write(key, &listener, sizeof listener) != sizeof listener || listener < 0) {
        ::_exit(exit_cannot_prepare);
    }
    ::_exit(become(program, command));
}

void compute_until(std::int64_t end_ns) {
    while (monotonic_raw_ns() < end_ns) {
    }
}

/// One call; that it was interrupted, or its process killed, meanwhile is no matter of the supervisor's.
void hold_up(int listener, std::chrono::nanoseconds added) {
    seccomp_notif heard{};
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &heard) != 0) {
        if (errno != ENOENT && errno != EINTR) {
            throw_errno("cannot hear of a system call");
        }
        return;
    }
    compute_until(monotonic_raw_ns() + added.count());
    seccomp_notif_resp answer{
        .id = heard.id, .val = 0, .error = 0, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0 && errno != ENOENT) {
        throw_errno("cannot let a system call go on");
    }
}

int await(pid_t command) {
    int status = 0;
    while (::waitpid(command, &status, __WALL) < 0) {
        if (errno != EINTR) {
            throw_errno("cannot wait for the command");
        }
    }
    return exit_code(status);
}

/// So that the delay is of one size on a busy processor too; where that is not permitted it is not.
void come_first() {
    const sched_param least{.sched_priority = 1};
    static_cast<void>(::sched_setscheduler(0, SCHED_FIFO, &least));
}

int supervise(pid_t command, int listener, std::chrono::nanoseconds added) {
    come_first();
    const FileDescriptor life{static_cast<int>(::syscall(SYS_pidfd_open, command, 0))};
    if (!life) {
        throw_errno("cannot watch the command");
    }
    std::array watched{pollfd{.fd = listener, .events = POLLIN, .revents = 0},
                       pollfd{.fd = life.number(), .events = POLLIN, .revents = 0}};
    for (;;) {
        if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) {
            throw_errno("cannot wait for system calls");
        }
        if (watched[1].revents != 0) {
            return await(command);
        }
        if ((static_cast<unsigned>(watched[0].revents) & static_cast<unsigned>(POLLIN)) != 0) {
            hold_up(listener, added);
        }
    }
}

}  // namespace

Delay parse_delay(std::string_view text) {
    constexpr std::uint32_t most_us = 1'000'000;
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    const auto* const known = std::ranges::find(known_calls, name, &KnownCall::name);
    const auto added_us = equals == std::string_view::npos
                              ? std::nullopt
                              : parse_number<std::uint32_t>(text.substr(equals + 1));
    if (known == known_calls.end() || !added_us || *added_us > most_us) {
        throw std::invalid_argument("'" + std::string{text} +
                                    "' is not clone, fdatasync or fsync, =, and up to 1000000 microseconds");
    }
    return {.call = known->number, .added = std::chrono::microseconds{*added_us}};
}

int run_delayed(const Delay& delay, std::span<char* const> command) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw_errno("cannot make a pipe");
    }
    const FileDescriptor gate{ends[0]};
    const FileDescriptor key{ends[1]};
    // With one table of descriptors for both, the filter's reaches the supervisor, whom no filter may hold
    // up.
    const auto child = static_cast<pid_t>(::syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0));
    if (child < 0) {
        throw_errno("cannot start a process");
    }
    if (child == 0) {
        become_filtered(delay.call, command, key.number());
    }
    int listener = -EIO;
    if (::read(gate.number(), &listener, sizeof listener) != sizeof listener || listener < 0) {
        errno = listener < 0 ? -listener : EIO;
        throw_errno("cannot supervise system calls");
    }
    const FileDescriptor heard{listener};
    return supervise(child, heard.number(), delay.added);
}

}  // namespace tare::hinder
