// SPDX-License-Identifier: Apache-2.0
#include "hinder/mappings.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include "common/system.hpp"
#include "hinder/child.hpp"
#include "hinder/follow.hpp"

namespace tare::hinder {

namespace {

/// Of mmap(2).
struct Call {
    std::uint64_t address = 0;
    std::uint64_t length_byte = 0;
    std::uint64_t protection = PROT_NONE;
    std::uint64_t flags = MAP_PRIVATE | MAP_ANONYMOUS;
};

constexpr auto no_file = ~std::uint64_t{0};

#if defined(__x86_64__)

constexpr std::uint64_t call_byte = 2;
constexpr std::uint64_t code = 0xcc050f;  // syscall; int3
constexpr std::uint64_t code_mask = 0xffffff;

void set_place(user_regs_struct& registers, std::uint64_t place) {
    registers.rip = place;
    registers.orig_rax = no_file;  // no system call to start again
}

std::uint64_t place_of(const user_regs_struct& registers) { return registers.rip; }

void set_call(user_regs_struct& registers, const Call& call) {
    registers.rax = SYS_mmap;
    registers.rdi = call.address;
    registers.rsi = call.length_byte;
    registers.rdx = call.protection;
    registers.r10 = call.flags;
    registers.r8 = no_file;
    registers.r9 = 0;
}

std::uint64_t result(const user_regs_struct& registers) { return registers.rax; }

#else

constexpr std::uint64_t call_byte = 4;
constexpr std::uint64_t code = 0xd4200000'd4000001;  // svc #0; brk #0
constexpr std::uint64_t code_mask = ~std::uint64_t{0};

void set_place(user_regs_struct& registers, std::uint64_t place) { registers.pc = place; }

std::uint64_t place_of(const user_regs_struct& registers) { return registers.pc; }

void set_call(user_regs_struct& registers, const Call& call) {
    registers.regs[8] = SYS_mmap;
    registers.regs[0] = call.address;
    registers.regs[1] = call.length_byte;
    registers.regs[2] = call.protection;
    registers.regs[3] = call.flags;
    registers.regs[4] = no_file;
    registers.regs[5] = 0;
}

std::uint64_t result(const user_regs_struct& registers) { return registers.regs[0]; }

#endif

/// A process at its program's first instruction, which makes system calls for us.
class Puppet {
  public:
    Puppet(pid_t process, const user_regs_struct& registers)
        : process_{process},
          before_{registers},
          place_{place_of(registers)},
          text_{word_at(process, place_)} {
        set_word(process_, place_, (text_ & ~code_mask) | code);
        auto leaving = before_;
        set_place(leaving, place_ + call_byte);
        run_to_breakpoint(leaving);  // out of execve(2), whose result would overwrite a register
    }

    std::uint64_t map(const Call& call) {
        auto registers = before_;
        set_place(registers, place_);
        set_call(registers, call);
        run_to_breakpoint(registers);
        const auto after = registers_of(process_);
        const std::uint64_t address = after ? result(*after) : no_file;
        constexpr std::uint64_t last_error = 4095;
        if (address >= ~last_error) {
            errno = static_cast<int>(~address + 1);
            throw_errno("cannot map memory into process " + std::to_string(process_));
        }
        return address;
    }

    /// As if nothing had happened: signals that came meanwhile come now.
    void release() {
        set_word(process_, place_, text_);
        auto registers = before_;
        set_place(registers, place_);
        set_registers(process_, registers);
        for (const int signal : late_) {
            static_cast<void>(::kill(process_, signal));
        }
    }

  private:
    void run_to_breakpoint(const user_regs_struct& registers) {
        set_registers(process_, registers);
        for (int signal = 0; (signal = run_to_stop(process_, 0)) != SIGTRAP;) {
            late_.push_back(signal);
        }
    }

    pid_t process_;
    user_regs_struct before_;
    std::uint64_t place_;
    std::uint64_t text_;
    std::vector<int> late_;
};

void add_mappings(pid_t process, std::uint32_t count) {
    const auto registers = registers_of(process);
    if (!registers) {
        complain(program, "a program of another width gets no mappings");
        return;
    }
    const auto page_byte = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    Puppet puppet{process, *registers};
    const std::uint64_t first = puppet.map({.length_byte = (2 * count + 1) * page_byte});
    for (std::uint64_t number = 0; number < count; ++number) {
        static_cast<void>(puppet.map({.address = first + (2 * number + 1) * page_byte,
                                      .length_byte = page_byte,
                                      .protection = PROT_READ | PROT_WRITE,
                                      .flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE}));
    }
    puppet.release();
}

}  // namespace

int run_with_mappings(std::uint32_t count, std::span<char* const> command) {
    pid_t first = 0;
    return run_followed(command, [&](pid_t process) {
        add_mappings(process, count);
        first = first == 0 ? process : first;
        return process == first;
    });
}

}  // namespace tare::hinder
