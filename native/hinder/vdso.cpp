// SPDX-License-Identifier: Apache-2.0
#include "hinder/vdso.hpp"

#include <elf.h>
#include <sys/types.h>

#include <cstdint>

#include "common/system.hpp"
#include "hinder/child.hpp"
#include "hinder/follow.hpp"

namespace tare::hinder {

namespace {

constexpr std::uint64_t word_byte = sizeof(std::uint64_t);

std::uint64_t stack_pointer(const user_regs_struct& registers) {
#if defined(__x86_64__)
    return registers.rsp;
#else
    return registers.sp;
#endif
}

/// The stack of a program that starts holds the number of its arguments, these, a 0, its variables, a 0, and
/// the auxiliary vector (System V ABI, "Process Initialization").
bool hide_vdso(pid_t process) {
    const auto registers = registers_of(process);
    if (!registers) {
        complain(program, "a program of another width keeps its vDSO");
        return true;
    }
    const std::uint64_t stack = stack_pointer(*registers);
    std::uint64_t place = stack + (word_at(process, stack) + 2) * word_byte;
    while (word_at(process, place) != 0) {
        place += word_byte;
    }
    place += word_byte;
    for (std::uint64_t type = 0; (type = word_at(process, place)) != AT_NULL; place += 2 * word_byte) {
        if (type == AT_SYSINFO_EHDR) {
            set_word(process, place, AT_IGNORE);
        }
    }
    return true;
}

}  // namespace

int run_without_vdso(std::span<char* const> command) { return run_followed(command, hide_vdso); }

}  // namespace tare::hinder
