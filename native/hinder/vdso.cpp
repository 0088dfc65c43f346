// SPDX-License-Identifier: Apache-2.0
#include "hinder/vdso.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "common/exec.hpp"
#include "common/file_descriptor.hpp"
#include "common/system.hpp"
#include "hinder/child.hpp"

namespace tare::hinder {

namespace {

constexpr std::uint64_t word_byte = sizeof(std::uint64_t);

/// An address of another process, or a number, as ptrace(2) wants both.
void* as_pointer(std::uint64_t value) {
    return reinterpret_cast<void*>(value);  // NOLINT(*-reinterpret-cast,performance-no-int-to-ptr)
}

/// Nothing where the program that was started is not of this machine's own width.
std::optional<std::uint64_t> stack_pointer(pid_t process) {
    user_regs_struct registers{};
    iovec place{.iov_base = &registers, .iov_len = sizeof registers};
    if (::ptrace(PTRACE_GETREGSET, process, as_pointer(NT_PRSTATUS), &place) != 0 ||
        place.iov_len != sizeof registers) {
        return std::nullopt;
    }
#if defined(__x86_64__)
    return registers.rsp;
#else
    return registers.sp;
#endif
}

std::uint64_t word_at(pid_t process, std::uint64_t address) {
    errno = 0;
    const long word = ::ptrace(PTRACE_PEEKDATA, process, as_pointer(address), nullptr);
    if (errno != 0) {
        throw_errno("cannot read the memory of process " + std::to_string(process));
    }
    return static_cast<std::uint64_t>(word);
}

/// The stack of a program that starts holds the number of its arguments, these, a 0, its variables, a 0, and
/// the auxiliary vector (System V ABI, "Process Initialization").
void hide_vdso(pid_t process) {
    const auto stack = stack_pointer(process);
    if (!stack) {
        complain(program, "a program of another width keeps its vDSO");
        return;
    }
    std::uint64_t place = *stack + (word_at(process, *stack) + 2) * word_byte;
    while (word_at(process, place) != 0) {
        place += word_byte;
    }
    place += word_byte;
    for (std::uint64_t type = 0; (type = word_at(process, place)) != AT_NULL; place += 2 * word_byte) {
        if (type == AT_SYSINFO_EHDR &&
            ::ptrace(PTRACE_POKEDATA, process, as_pointer(place), as_pointer(AT_IGNORE)) != 0) {
            throw_errno("cannot write the memory of process " + std::to_string(process));
        }
    }
}

/// The end of a process that was killed meanwhile is heard of next.
void hide_unless_killed(pid_t process) {
    try {
        hide_vdso(process);
    } catch (const std::system_error& error) {
        if (error.code().value() != ESRCH) {
            throw;
        }
    }
}

void go_on(pid_t process, int status) {
    constexpr std::array<int, 4> stops{SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
    const int signal = WSTOPSIG(status);
    const int event = status >> 16U;  // NOLINT(hicpp-signed-bitwise,*-magic-numbers): as in ptrace(2)
    const bool stays = event == PTRACE_EVENT_STOP && std::ranges::count(stops, signal) != 0;
    if (event == PTRACE_EVENT_EXEC) {
        hide_unless_killed(process);
    }
    const auto delivered = static_cast<std::uint64_t>(event == 0 ? signal : 0);
    if (::ptrace(stays ? PTRACE_LISTEN : PTRACE_CONT, process, nullptr, as_pointer(delivered)) != 0 &&
        errno != ESRCH) {
        throw_errno("cannot let process " + std::to_string(process) + " go on");
    }
}

int follow(pid_t command) {
    for (;;) {
        int status = 0;
        const pid_t process = ::waitpid(-1, &status, __WALL);
        if (process < 0 && errno != EINTR) {
            throw_errno("cannot wait for the command");
        }
        if (process > 0 && WIFSTOPPED(status)) {
            go_on(process, status);
        } else if (process == command) {
            return exit_code(status);
        }
    }
}

/// In the child: becomes the command once its parent follows it.
[[noreturn]] void become_child(std::span<char* const> command, const FileDescriptor& gate) {
    char word = 0;
    static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL));
    if (::read(gate.number(), &word, 1) != 1) {
        ::_exit(exit_cannot_prepare);
    }
    ::_exit(become(program, command));
}

}  // namespace

int run_without_vdso(std::span<char* const> command) {
    constexpr std::uint64_t options =
        PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw_errno("cannot make a pipe");
    }
    const FileDescriptor gate{ends[0]};
    FileDescriptor key{ends[1]};
    const pid_t child = ::fork();
    if (child < 0) {
        throw_errno("cannot start a process");
    }
    if (child == 0) {
        key = FileDescriptor{};  // so that the gate closes with the parent's end
        become_child(command, gate);
    }
    if (::ptrace(PTRACE_SEIZE, child, nullptr, as_pointer(options)) != 0) {
        throw_errno("cannot follow the command");
    }
    if (::write(key.number(), "", 1) != 1) {
        throw_errno("cannot start the command");
    }
    return follow(child);
}

}  // namespace tare::hinder
