// SPDX-License-Identifier: Apache-2.0
// Plants a cause that no counter shows into a command and all that it starts: without huge pages, and without
// the kernel's shared object, by which clocks are read: hinder [--no-huge-pages] [--no-vdso] COMMAND
// ARGUMENT...
#include <sys/prctl.h>

#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/exec.hpp"
#include "common/system.hpp"
#include "hinder/vdso.hpp"

namespace {

constexpr std::string_view program = "hinder";

struct Order {
    bool huge_pages = true;
    bool vdso = true;
    std::span<char* const> command;
};

/// Throws `std::invalid_argument` that says what is wrong.
Order parse(std::span<char* const> words) {
    Order order{.command = words};
    while (!order.command.empty() && std::string_view{order.command[0]}.starts_with("--")) {
        const std::string_view option{order.command[0]};
        order.huge_pages = order.huge_pages && option != "--no-huge-pages";
        order.vdso = order.vdso && option != "--no-vdso";
        if (option != "--no-huge-pages" && option != "--no-vdso") {
            throw std::invalid_argument("unknown option '" + std::string{option} + "'");
        }
        order.command = order.command.subspan(1);
    }
    if (order.command.empty() || (order.huge_pages && order.vdso)) {
        throw std::invalid_argument("write: hinder [--no-huge-pages] [--no-vdso] COMMAND ARGUMENT...");
    }
    return order;
}

int run(const Order& order) {
    if (!order.huge_pages && ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0) {
        tare::throw_errno("cannot refuse huge pages");
    }
    return order.vdso ? tare::become(program, order.command) : tare::hinder::run_without_vdso(order.command);
}

}  // namespace

int main(int argc, char** argv) {
    Order order;
    try {
        order = parse(std::span<char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1));
    } catch (const std::invalid_argument& error) {
        tare::complain(program, error.what());
        return tare::exit_wrong_use;
    }
    try {
        return run(order);
    } catch (const std::exception& error) {
        tare::complain(program, error.what());
        return tare::exit_cannot_prepare;
    }
}
