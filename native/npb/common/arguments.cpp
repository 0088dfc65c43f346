// SPDX-License-Identifier: Apache-2.0
#include "npb/common/arguments.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "common/number.hpp"

namespace tare::npb {

namespace {

constexpr int most_threads = 1024;
constexpr double largest_setting = 1e12;

void set_class(Arguments& arguments, std::string_view word) {
    const auto found = problem_class(word);
    if (!found) {
        throw WrongUse("there is no class '" + std::string{word} + "'; there are S, W, A, B, C, D");
    }
    arguments.problem_class = *found;
}

void set_simd(Arguments& arguments, std::string_view word) {
    const Choice choice = chosen(word);
    arguments.simd = choice.simd;
    arguments.simd_rule = choice.rule;
}

void set_threads(Arguments& arguments, std::string_view word) {
    const auto count = parse_number<int>(word);
    if (!count || *count < 1 || *count > most_threads) {
        throw WrongUse("'" + std::string{word} + "' is not a number of threads from 1 to 1024");
    }
    arguments.threads = *count;
}

void set_messages(Arguments& arguments, std::string_view word) {
    for (const Messages messages : {Messages::own, Messages::reference}) {
        if (name_of(messages) == word) {
            arguments.messages = messages;
            return;
        }
    }
    throw WrongUse("there are no messages '" + std::string{word} + "'; there are own and reference");
}

void set_value(Arguments& arguments, std::string_view word) {
    const auto equals = std::min(word.find('='), word.size());
    const auto value = parse_number<double>(word.substr(std::min(equals + 1, word.size())));
    if (equals == 0 || !value || !(std::abs(*value) <= largest_setting)) {
        throw WrongUse("'" + std::string{word} + "' is not NAME=NUMBER");
    }
    arguments.settings.insert_or_assign(std::string{word.substr(0, equals)}, *value);
}

using Setter = void (*)(Arguments&, std::string_view);

constexpr std::array<std::pair<std::string_view, Setter>, 5> setters{{
    {"--class", set_class},
    {"--simd", set_simd},
    {"--threads", set_threads},
    {"--messages", set_messages},
    {"--set", set_value},
}};

void set_option(Arguments& arguments, std::string_view name, std::string_view value) {
    const auto* const found = std::find_if(setters.begin(), setters.end(),
                                           [name](const auto& setter) { return setter.first == name; });
    if (found == setters.end()) {
        throw WrongUse("unknown option '" + std::string{name} + "'");
    }
    found->second(arguments, value);
}

void check_settings(const Arguments& arguments, std::span<const std::string_view> known) {
    for (const auto& [name, value] : arguments.settings) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            throw WrongUse("this kernel has no setting '" + name + "'");
        }
    }
}

}  // namespace

std::string_view name_of(Messages messages) { return messages == Messages::own ? "own" : "reference"; }

std::int64_t whole_number(std::string_view name, double value, std::int64_t least, std::int64_t most) {
    // No setting is larger than this, so that the conversion is exact.
    const bool is_whole = std::abs(value) <= largest_setting && std::trunc(value) == value;
    const std::int64_t whole = is_whole ? static_cast<std::int64_t>(value) : 0;
    if (!is_whole || whole < least || whole > most) {
        throw WrongUse(std::string{name} + " is a whole number from " + std::to_string(least) + " to " +
                       std::to_string(most));
    }
    return whole;
}

Arguments parse_arguments(std::span<char* const> words, std::span<const std::string_view> settings) {
    Arguments arguments;
    set_simd(arguments, "widest");
    for (std::size_t position = 0; position < words.size(); ++position) {
        const std::string_view name = words[position];
        if (name == "--json") {
            arguments.json = true;
            continue;
        }
        ++position;
        set_option(arguments, name, position < words.size() ? words[position] : "");
    }
    check_settings(arguments, settings);
    return arguments;
}

}  // namespace tare::npb
