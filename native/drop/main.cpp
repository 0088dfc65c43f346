// SPDX-License-Identifier: Apache-2.0
// Takes on a user and limits, then becomes the command: drop [--user UID:GID] [--limit NAME=NUMBER]... --
// COMMAND...
#include <cerrno>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/exec.hpp"
#include "common/restrictions.hpp"
#include "common/system.hpp"

namespace {

constexpr std::string_view program = "drop";

/// Reads the options; gives the command. Throws `std::invalid_argument`.
std::span<char* const> parse(std::span<char* const> words, tare::Restrictions& restrictions) {
    while (words.size() > 2 && std::string_view{words[0]} != "--") {
        const std::string_view name = words[0];
        if (name == "--user") {
            restrictions.set_user(words[1]);
        } else if (name == "--limit") {
            restrictions.add_limit(words[1]);
        } else {
            break;
        }
        words = words.subspan(2);
    }
    if (words.size() < 2 || std::string_view{words[0]} != "--") {
        throw std::invalid_argument(
            "write: drop [--user UID:GID] [--limit NAME=NUMBER]... -- COMMAND ARGUMENT...");
    }
    return words.subspan(1);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        tare::Restrictions restrictions;
        const auto words = std::span<char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1);
        const auto command = parse(words, restrictions);
        if (const char* const step = restrictions.apply()) {
            tare::complain(program, std::string{"cannot "} + step + ": " + tare::error_text(errno));
            return tare::exit_cannot_prepare;
        }
        return tare::become(program, command);
    } catch (const std::exception& error) {
        tare::complain(program, error.what());
        return tare::exit_wrong_use;
    }
}
