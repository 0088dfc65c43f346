// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/options.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/number.hpp"
#include "common/processors.hpp"

namespace tare::stopwatch {

namespace {

constexpr Seconds longest{1e9};

Seconds parse_seconds(std::string_view text) {
    const auto value = parse_number<double>(text);
    if (!value || !(*value >= 0.0) || *value > longest.count()) {
        throw WrongUse("'" + std::string{text} + "' is not a number of seconds from 0 to 1e9");
    }
    return Seconds{*value};
}

void set_variable(Options& options, std::string_view text) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
        throw WrongUse("'" + std::string{text} + "' is not NAME=VALUE");
    }
    const auto name = text.substr(0, equals + 1);
    std::erase_if(options.variables, [name](const std::string& known) { return known.starts_with(name); });
    options.variables.emplace_back(text);
}

void set_file_limit(Options& options, std::string_view text) {
    options.file_limit_byte = parse_number<std::uint64_t>(text);
    if (!options.file_limit_byte) {
        throw WrongUse("'" + std::string{text} + "' is not a whole number of byte");
    }
}

void set_turns(Options& options, std::string_view text) {
    if (text != "yes" && text != "no") {
        throw WrongUse("'" + std::string{text} + "' is neither yes nor no");
    }
    options.turns = text == "yes";
}

using Setter = void (*)(Options&, std::string_view);

constexpr std::array<std::pair<std::string_view, Setter>, 12> setters{{
    {"--directory", [](Options& options, std::string_view text) { options.directory = text; }},
    {"--stdin", [](Options& options, std::string_view text) { options.stdin_file = text; }},
    {"--stdout", [](Options& options, std::string_view text) { options.stdout_file = text; }},
    {"--stderr", [](Options& options, std::string_view text) { options.stderr_file = text; }},
    {"--env", set_variable},
    {"--processors",
     [](Options& options, std::string_view text) { options.processors = parse_processor_list(text); }},
    {"--limit-s", [](Options& options, std::string_view text) { options.limit = parse_seconds(text); }},
    {"--grace-s", [](Options& options, std::string_view text) { options.grace = parse_seconds(text); }},
    {"--file-limit-byte", set_file_limit},
    {"--user", [](Options& options, std::string_view text) { options.restrictions.set_user(text); }},
    {"--limit", [](Options& options, std::string_view text) { options.restrictions.add_limit(text); }},
    {"--turns", set_turns},
}};

void set_option(Options& options, std::string_view name, std::string_view value) {
    const auto* const found = std::find_if(setters.begin(), setters.end(),
                                           [name](const auto& setter) { return setter.first == name; });
    if (found == setters.end()) {
        throw WrongUse("unknown option '" + std::string{name} + "'; " + std::string{how_to_use});
    }
    try {
        found->second(options, value);
    } catch (const std::invalid_argument& error) {
        throw WrongUse(std::string{name} + ": " + error.what());
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
    if (before + 1 >= arguments.size()) {
        throw WrongUse("no command; " + std::string{how_to_use});
    }
    const auto command = arguments.subspan(before + 1);
    options.command.assign(command.begin(), command.end());
    return options;
}

}  // namespace tare::stopwatch
