// SPDX-License-Identifier: Apache-2.0
#include "enter/options.hpp"

#include <algorithm>

namespace tare::enter {

namespace {

constexpr std::string_view default_path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

[[noreturn]] void refuse(const std::string& what) { throw WrongUse(what + "; " + std::string{how_to_use}); }

void set_variable(Options& options, std::string_view text) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
        refuse("'" + std::string{text} + "' is not NAME=VALUE");
    }
    const auto name = text.substr(0, equals + 1);
    std::erase_if(options.command.variables,
                  [name](const std::string& known) { return known.starts_with(name); });
    options.command.variables.emplace_back(text);
}

void set_directory(Options& options, std::string_view text) {
    if (!text.starts_with('/')) {
        refuse("'" + std::string{text} + "' is not an absolute directory");
    }
    options.command.directory = text;
}

void set_option(Options& options, std::string_view name, std::string_view value) {
    if (name == "--env") {
        set_variable(options, value);
    } else if (name == "--directory") {
        set_directory(options, value);
    } else {
        refuse("unknown option '" + std::string{name} + "'");
    }
}

}  // namespace

Options parse_options(std::span<char* const> arguments) {
    Options options{.socket = {},
                    .command = {.directory = "/", .arguments = {}, .variables = {std::string{default_path}}}};
    const auto separator =
        std::find_if(arguments.begin(), arguments.end(), [](std::string_view text) { return text == "--"; });
    const auto before = static_cast<std::size_t>(separator - arguments.begin());
    if (before == 0 || before + 1 >= arguments.size()) {
        refuse("no socket or no command");
    }
    options.socket = arguments.front();
    for (std::size_t position = 1; position < before; position += 2) {
        set_option(options, arguments[position], position + 1 < before ? arguments[position + 1] : "");
    }
    const auto command = arguments.subspan(before + 1);
    options.command.arguments.assign(command.begin(), command.end());
    return options;
}

}  // namespace tare::enter
