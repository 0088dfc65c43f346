// SPDX-License-Identifier: Apache-2.0
#include "keeper/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/number.hpp"

namespace tare::keeper {

namespace {

[[noreturn]] void refuse(const std::string& what) { throw WrongUse(what + "; " + std::string{how_to_use}); }

void set_descriptor(Options& options, std::string_view text) {
    const auto number = parse_number<int>(text);
    if (!number || *number <= STDERR_FILENO) {
        refuse("'" + std::string{text} + "' is not the number of a descriptor beyond the standard ones");
    }
    options.descriptor = *number;
}

void set_ready_limit(Options& options, std::string_view text) {
    constexpr double longest_s = 86'400;
    const auto seconds = parse_number<double>(text);
    if (!seconds || !(*seconds > 0) || *seconds > longest_s) {
        refuse("'" + std::string{text} + "' is not a number of seconds up to a day");
    }
    options.ready_limit =
        std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>{*seconds});
}

using Setter = void (*)(Options&, std::string_view);

constexpr std::array<std::pair<std::string_view, Setter>, 5> setters{{
    {"--socket", [](Options& options, std::string_view text) { options.socket = text; }},
    {"--pid-file", [](Options& options, std::string_view text) { options.pid_file = text; }},
    {"--connect", [](Options& options, std::string_view text) { options.connect = text; }},
    {"--descriptor", set_descriptor},
    {"--ready-limit-s", set_ready_limit},
}};

void set_option(Options& options, std::string_view name, std::string_view value) {
    const auto* const found = std::find_if(setters.begin(), setters.end(),
                                           [name](const auto& setter) { return setter.first == name; });
    if (found == setters.end()) {
        refuse("unknown option '" + std::string{name} + "'");
    }
    if (value.empty()) {
        refuse(std::string{name} + " needs a value");
    }
    found->second(options, value);
}

void check(const Options& options) {
    if (options.socket.empty()) {
        refuse("no socket for the clients");
    }
    const bool starts = !options.vmm.empty() && !options.pid_file.empty() && options.descriptor >= 0;
    const bool nothing = options.vmm.empty() && options.pid_file.empty() && options.descriptor < 0;
    if (options.connect.empty() ? !starts : !nothing) {
        refuse("either a VMM, its pid file and its descriptor, or a socket to connect to");
    }
}

}  // namespace

Options parse_options(std::span<char* const> arguments) {
    Options options;
    const auto separator =
        std::find_if(arguments.begin(), arguments.end(), [](std::string_view text) { return text == "--"; });
    const auto before = static_cast<std::size_t>(separator - arguments.begin());
    for (std::size_t position = 0; position < before; position += 2) {
        set_option(options, arguments[position], position + 1 < before ? arguments[position + 1] : "");
    }
    if (before < arguments.size()) {
        options.vmm = arguments.subspan(before + 1);
    }
    check(options);
    return options;
}

}  // namespace tare::keeper
