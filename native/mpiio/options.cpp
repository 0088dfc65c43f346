// SPDX-License-Identifier: Apache-2.0
#include "mpiio/options.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "common/number.hpp"

namespace tare::mpiio {

namespace {

constexpr std::uint64_t most_record_byte = std::numeric_limits<std::int32_t>::max();  // what MPI counts in
constexpr std::uint64_t most_byte = std::uint64_t{1} << 48U;
constexpr std::uint64_t most_repetitions = 1'000'000;

template <typename Value, std::size_t count>
using Choices = std::array<std::pair<std::string_view, Value>, count>;

constexpr Choices<Operation, 2> operations{{{"write", Operation::write}, {"read", Operation::read}}};
constexpr Choices<Pattern, 3> patterns{
    {{"strided", Pattern::strided}, {"segmented", Pattern::segmented}, {"own", Pattern::own}}};
constexpr Choices<Interface, 2> interfaces{{{"mpi", Interface::mpi}, {"posix", Interface::posix}}};
constexpr Choices<bool, 2> switches{{{"on", true}, {"off", false}}};

template <typename Value, std::size_t count>
Value choice(std::string_view text, const Choices<Value, count>& choices) {
    std::string known;
    for (const auto& [name, value] : choices) {
        if (name == text) {
            return value;
        }
        known += ' ' + std::string{name};
    }
    throw std::invalid_argument("'" + std::string{text} + "' is none of" + known);
}

std::uint64_t amount(std::string_view text, std::uint64_t most) {
    const auto value = parse_number<std::uint64_t>(text);
    if (!value || *value == 0 || *value > most) {
        throw std::invalid_argument("'" + std::string{text} + "' is not a whole number from 1 to " +
                                    std::to_string(most));
    }
    return *value;
}

std::vector<std::uint64_t> amounts(std::string_view text) {
    std::vector<std::uint64_t> all;
    while (true) {
        const auto comma = text.find(',');
        all.push_back(amount(text.substr(0, comma), most_record_byte));
        if (comma == std::string_view::npos) {
            return all;
        }
        text.remove_prefix(comma + 1);
    }
}

using Setter = void (*)(Options&, std::string_view);

constexpr std::array<std::pair<std::string_view, Setter>, 13> setters{{
    {"--operation",
     [](Options& options, std::string_view text) { options.operation = choice(text, operations); }},
    {"--pattern", [](Options& options, std::string_view text) { options.pattern = choice(text, patterns); }},
    {"--interface",
     [](Options& options, std::string_view text) { options.interface = choice(text, interfaces); }},
    {"--collective",
     [](Options& options, std::string_view text) { options.collective = choice(text, switches); }},
    {"--direct", [](Options& options, std::string_view text) { options.direct = choice(text, switches); }},
    {"--keep", [](Options& options, std::string_view text) { options.keep = choice(text, switches); }},
    {"--drop", [](Options& options, std::string_view text) { options.drop = choice(text, switches); }},
    {"--size", [](Options& options, std::string_view text) { options.size_byte = amount(text, most_byte); }},
    {"--records", [](Options& options, std::string_view text) { options.records = amounts(text); }},
    {"--repetitions",
     [](Options& options, std::string_view text) { options.repetitions = amount(text, most_repetitions); }},
    {"--seed", [](Options& options, std::string_view text) { options.seed = amount(text, most_byte); }},
    {"--directory", [](Options& options, std::string_view text) { options.directory = text; }},
    {"--name", [](Options& options, std::string_view text) { options.name = text; }},
}};

void set_option(Options& options, std::string_view name, std::string_view value) {
    const auto* const setter = std::find_if(setters.begin(), setters.end(),
                                            [name](const auto& known) { return known.first == name; });
    if (setter == setters.end()) {
        std::string known;
        for (const auto& [option, unused] : setters) {
            known += ' ' + std::string{option};
        }
        throw std::invalid_argument("unknown option '" + std::string{name} + "'; there are" + known);
    }
    setter->second(options, value);
}

void refuse_unfit(const Options& options) {
    for (const std::uint64_t record_byte : options.records) {
        if (options.size_byte % record_byte != 0) {
            throw std::invalid_argument("records of " + std::to_string(record_byte) +
                                        " bytes do not divide a rank's " + std::to_string(options.size_byte));
        }
    }
    if (options.interface == Interface::posix && options.collective) {
        throw std::invalid_argument("--interface posix has no collective calls");
    }
    if (options.interface == Interface::mpi && options.direct) {
        throw std::invalid_argument("--interface mpi cannot go past the page cache; take posix");
    }
    if (options.directory.empty()) {
        throw std::invalid_argument("--directory needs the path of a folder");
    }
    if (options.name.find('/') != std::string::npos) {
        throw std::invalid_argument("--name is no path, but part of the name of a file");
    }
}

}  // namespace

Options parse_options(std::span<char* const> arguments) {
    Options options;
    for (std::size_t position = 0; position < arguments.size(); position += 2) {
        set_option(options, arguments[position],
                   position + 1 < arguments.size() ? arguments[position + 1] : "");
    }
    refuse_unfit(options);
    return options;
}

}  // namespace tare::mpiio
