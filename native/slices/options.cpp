// SPDX-License-Identifier: Apache-2.0
#include "slices/options.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "common/number.hpp"

namespace tare::slices {

namespace {

constexpr std::string_view how_to_use =
    "write: [--memory-mib N] [--huge-pages on|off] [--numa-node N] [--processor-node N] [--message-kib N] "
    "[--node-ranks N] [--rounds N] [--once PIECE COUNT ...]";

template <typename Number>
Number amount(std::string_view text, std::uint64_t most) {
    const auto value = parse_number<std::uint64_t>(text);
    if (!value || *value == 0 || *value > most) {
        throw std::invalid_argument("'" + std::string{text} + "' is not a whole number from 1 to " +
                                    std::to_string(most));
    }
    return static_cast<Number>(*value);
}

bool on_or_off(std::string_view text) {
    if (text != "on" && text != "off") {
        throw std::invalid_argument("'" + std::string{text} + "' is neither on nor off");
    }
    return text == "on";
}

int node_number(std::string_view text) {
    constexpr int most_nodes = 1024;
    const auto node = parse_number<int>(text);
    if (!node || *node < 0 || *node >= most_nodes) {
        throw std::invalid_argument("'" + std::string{text} + "' is no number of a NUMA node");
    }
    return *node;
}

using Setter = void (*)(Options&, std::string_view);

constexpr std::uint64_t most_rounds = 1'000'000;
constexpr std::uint64_t most_mib = std::uint64_t{1} << 20U;
constexpr std::uint64_t most_kib = std::uint64_t{1} << 20U;
constexpr std::uint64_t most_ranks = std::uint64_t{1} << 20U;

constexpr std::array<std::pair<std::string_view, Setter>, 7> setters{{
    {"--rounds", [](Options& options,
                    std::string_view text) { options.rounds = amount<std::uint64_t>(text, most_rounds); }},
    {"--memory-mib", [](Options& options,
                        std::string_view text) { options.memory_mib = amount<std::size_t>(text, most_mib); }},
    {"--huge-pages",
     [](Options& options, std::string_view text) { options.placement.huge_pages = on_or_off(text); }},
    {"--numa-node",
     [](Options& options, std::string_view text) { options.placement.numa_node = node_number(text); }},
    {"--processor-node",
     [](Options& options, std::string_view text) { options.placement.processor_node = node_number(text); }},
    {"--message-kib",
     [](Options& options, std::string_view text) {
         options.message_kib = amount<std::size_t>(text, most_kib);
     }},
    {"--node-ranks",
     [](Options& options, std::string_view text) { options.node_ranks = amount<int>(text, most_ranks); }},
}};

void set_option(Options& options, std::string_view name, std::string_view value) {
    const auto* const setter = std::find_if(setters.begin(), setters.end(),
                                            [name](const auto& known) { return known.first == name; });
    if (setter == setters.end()) {
        throw std::invalid_argument("unknown option '" + std::string{name} + "'; " + std::string{how_to_use});
    }
    setter->second(options, value);
}

std::vector<Turn> parse_turns(std::span<char* const> words) {
    if (words.empty() || words.size() % 2 != 0) {
        throw std::invalid_argument("--once needs pairs of PIECE COUNT; " + std::string{how_to_use});
    }
    std::vector<Turn> turns;
    for (std::size_t position = 0; position < words.size(); position += 2) {
        turns.push_back(parse_turn(std::string{words[position]} + ' ' + words[position + 1]));
    }
    return turns;
}

}  // namespace

Turn parse_turn(std::string_view line) {
    constexpr std::uint64_t most_units = std::uint64_t{1} << 48U;
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos || blank == 0) {
        throw std::invalid_argument("'" + std::string{line} + "' is not PIECE COUNT");
    }
    return {.piece = std::string{line.substr(0, blank)},
            .count = amount<std::uint64_t>(line.substr(blank + 1), most_units)};
}

Options parse_options(std::span<char* const> arguments) {
    Options options;
    for (std::size_t position = 0; position < arguments.size(); position += 2) {
        const std::string_view name = arguments[position];
        if (name == "--once") {
            options.once = parse_turns(arguments.subspan(position + 1));
            return options;
        }
        set_option(options, name, position + 1 < arguments.size() ? arguments[position + 1] : "");
    }
    return options;
}

std::uint64_t warming_units(std::uint64_t count) {
    constexpr std::uint64_t share = 5;
    return std::max<std::uint64_t>(count / share, 1);
}

}  // namespace tare::slices
