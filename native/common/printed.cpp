// SPDX-License-Identifier: Apache-2.0
#include "common/printed.hpp"

#include <unistd.h>

#include <chrono>
#include <exception>
#include <stdexcept>

#include "common/exec.hpp"
#include "common/system.hpp"

namespace tare {

namespace {

constexpr std::chrono::seconds print_limit{10};

}  // namespace

int print_composed(std::string_view program, std::string (*compose)(std::span<char* const>),
                   std::span<char* const> arguments) {
    try {
        return write_all(STDOUT_FILENO, compose(arguments), print_limit) ? 0 : 1;
    } catch (const std::invalid_argument& error) {
        complain(program, error.what());
        return exit_wrong_use;
    } catch (const std::exception& error) {
        complain(program, error.what());
        return 1;
    }
}

}  // namespace tare
