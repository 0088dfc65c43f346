// SPDX-License-Identifier: Apache-2.0
// Plants a cause that no counter shows into a command and all that it starts: without huge pages, without the
// kernel's shared object, by which clocks are read, with more mappings, which each fork copies, or with a
// system call that a supervisor holds up: see `how_to_use`.
#include <sys/prctl.h>

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/exec.hpp"
#include "common/number.hpp"
#include "common/system.hpp"
#include "hinder/child.hpp"
#include "hinder/delay.hpp"
#include "hinder/mappings.hpp"
#include "hinder/vdso.hpp"

namespace {

using tare::hinder::program;

constexpr std::string_view how_to_use =
    "write: hinder [--no-huge-pages] [--no-vdso | --mappings COUNT | --delay CALL=MICROSECONDS] "
    "COMMAND ARGUMENT...";

struct Order {
    bool huge_pages = true;
    bool vdso = true;
    std::uint32_t mappings = 0;
    std::optional<tare::hinder::Delay> delay;
    std::span<char* const> command;
};

/// Takes the first word off; throws `std::invalid_argument` where there is none.
std::string_view take(Order& order) {
    if (order.command.empty()) {
        throw std::invalid_argument(std::string{how_to_use});
    }
    const std::string_view word{order.command[0]};
    order.command = order.command.subspan(1);
    return word;
}

std::uint32_t parse_mappings(std::string_view text) {
    const auto count = tare::parse_number<std::uint32_t>(text);
    if (!count || *count == 0 || *count > tare::hinder::most_mappings) {
        throw std::invalid_argument("'" + std::string{text} + "' is not a number of mappings from 1 to " +
                                    std::to_string(tare::hinder::most_mappings));
    }
    return *count;
}

void take_option(Order& order) {
    const auto option = take(order);
    if (option == "--no-huge-pages") {
        order.huge_pages = false;
    } else if (option == "--no-vdso") {
        order.vdso = false;
    } else if (option == "--mappings") {
        order.mappings = parse_mappings(take(order));
    } else if (option == "--delay") {
        order.delay = tare::hinder::parse_delay(take(order));
    } else {
        throw std::invalid_argument("unknown option '" + std::string{option} + "'");
    }
}

/// Throws `std::invalid_argument` that says what is wrong.
Order parse(std::span<char* const> words) {
    Order order{.delay = {}, .command = words};
    while (!order.command.empty() && std::string_view{order.command[0]}.starts_with("--")) {
        take_option(order);
    }
    const int supervised = (order.vdso ? 0 : 1) + (order.mappings == 0 ? 0 : 1) + (order.delay ? 1 : 0);
    if (order.command.empty() || supervised > 1 || (supervised == 0 && order.huge_pages)) {
        throw std::invalid_argument(std::string{how_to_use});
    }
    return order;
}

int run(const Order& order) {
    if (!order.huge_pages && ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0) {
        tare::throw_errno("cannot refuse huge pages");
    }
    if (order.delay) {
        return tare::hinder::run_delayed(*order.delay, order.command);
    }
    if (order.mappings != 0) {
        return tare::hinder::run_with_mappings(order.mappings, order.command);
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
