// SPDX-License-Identifier: Apache-2.0
#include "hinder/follow.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>

#include "common/exec.hpp"
#include "common/file_descriptor.hpp"
#include "common/system.hpp"
#include "hinder/child.hpp"

namespace tare::hinder {

namespace {

/// An address of another process, or a number, as ptrace(2) wants both.
void* as_pointer(std::uint64_t value) {
    return reinterpret_cast<void*>(value);  // NOLINT(*-reinterpret-cast,performance-no-int-to-ptr)
}

/// Whether it goes on being followed. The end of a process that was killed meanwhile is heard of next.
bool greet(pid_t process, const AtStart& at_start) {
    try {
        return at_start(process);
    } catch (const std::system_error& error) {
        if (error.code().value() != ESRCH) {
            throw;
        }
        return true;
    }
}

void go_on(pid_t process, int status, const AtStart& at_start) {
    constexpr std::array<int, 4> stops{SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
    const int signal = WSTOPSIG(status);
    const int event = status >> 16U;  // NOLINT(hicpp-signed-bitwise,*-magic-numbers): as in ptrace(2)
    const bool stays = event == PTRACE_EVENT_STOP && std::ranges::count(stops, signal) != 0;
    if (event == PTRACE_EVENT_EXEC && !greet(process, at_start)) {
        leave_alone(process);
        return;
    }
    const auto delivered = static_cast<std::uint64_t>(event == 0 ? signal : 0);
    if (::ptrace(stays ? PTRACE_LISTEN : PTRACE_CONT, process, nullptr, as_pointer(delivered)) != 0 &&
        errno != ESRCH) {
        throw_errno("cannot let process " + std::to_string(process) + " go on");
    }
}

int follow(pid_t command, const AtStart& at_start) {
    for (;;) {
        int status = 0;
        const pid_t process = ::waitpid(-1, &status, __WALL);
        if (process < 0 && errno != EINTR) {
            throw_errno("cannot wait for the command");
        }
        if (process > 0 && WIFSTOPPED(status)) {
            go_on(process, status, at_start);
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

std::optional<user_regs_struct> registers_of(pid_t process) {
    user_regs_struct registers{};
    iovec place{.iov_base = &registers, .iov_len = sizeof registers};
    if (::ptrace(PTRACE_GETREGSET, process, as_pointer(NT_PRSTATUS), &place) != 0 ||
        place.iov_len != sizeof registers) {
        return std::nullopt;
    }
    return registers;
}

void set_registers(pid_t process, user_regs_struct registers) {
    iovec place{.iov_base = &registers, .iov_len = sizeof registers};
    if (::ptrace(PTRACE_SETREGSET, process, as_pointer(NT_PRSTATUS), &place) != 0) {
        throw_errno("cannot set the registers of process " + std::to_string(process));
    }
}

std::uint64_t word_at(pid_t process, std::uint64_t address) {
    errno = 0;
    const long word = ::ptrace(PTRACE_PEEKDATA, process, as_pointer(address), nullptr);
    if (errno != 0) {
        throw_errno("cannot read the memory of process " + std::to_string(process));
    }
    return static_cast<std::uint64_t>(word);
}

void set_word(pid_t process, std::uint64_t address, std::uint64_t word) {
    if (::ptrace(PTRACE_POKEDATA, process, as_pointer(address), as_pointer(word)) != 0) {
        throw_errno("cannot write the memory of process " + std::to_string(process));
    }
}

int run_to_stop(pid_t process, int signal) {
    siginfo_t heard{};
    if (::ptrace(PTRACE_CONT, process, nullptr, as_pointer(static_cast<std::uint64_t>(signal))) != 0 ||
        ::waitid(P_PID, static_cast<id_t>(process), &heard, WSTOPPED | WEXITED | WNOWAIT | __WALL) != 0) {
        throw_errno("cannot let process " + std::to_string(process) + " go on");
    }
    if (heard.si_code != CLD_TRAPPED) {  // its end is left for whoever follows it
        errno = ESRCH;
        throw_errno("process " + std::to_string(process) + " ended");
    }
    int status = 0;
    static_cast<void>(::waitpid(process, &status, __WALL));
    return WSTOPSIG(status);
}

void leave_alone(pid_t process) {
    if (::ptrace(PTRACE_DETACH, process, nullptr, nullptr) != 0 && errno != ESRCH) {
        throw_errno("cannot leave process " + std::to_string(process));
    }
}

int run_followed(std::span<char* const> command, const AtStart& at_start) {
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
    return follow(child, at_start);
}

}  // namespace tare::hinder
