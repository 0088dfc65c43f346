// SPDX-License-Identifier: Apache-2.0
#include "collective/options.hpp"

#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/number.hpp"

namespace tare::collective {

namespace {

constexpr std::string_view how_to_use =
    "write: BENCHMARK [--group-ranks N] [--mapping near|far] SIZE:COUNT ...; BENCHMARK is pingpong, "
    "sendrecv, exchange, bcast, allreduce, alltoall or barrier";

constexpr std::array<std::pair<std::string_view, Benchmark>, 7> benchmarks{{
    {"pingpong", Benchmark::pingpong},
    {"sendrecv", Benchmark::sendrecv},
    {"exchange", Benchmark::exchange},
    {"bcast", Benchmark::bcast},
    {"allreduce", Benchmark::allreduce},
    {"alltoall", Benchmark::alltoall},
    {"barrier", Benchmark::barrier},
}};

constexpr std::uint64_t most_ranks = std::uint64_t{1} << 20U;
constexpr std::uint64_t most_calls = std::uint64_t{1} << 32U;
constexpr std::uint64_t most_byte = std::numeric_limits<int>::max();  // MPI counts with int

[[noreturn]] void refuse(const std::string& what) {
    throw std::invalid_argument(what + "; " + std::string{how_to_use});
}

std::uint64_t amount(std::string_view text, std::uint64_t least, std::uint64_t most) {
    const auto value = parse_number<std::uint64_t>(text);
    if (!value || *value < least || *value > most) {
        refuse("'" + std::string{text} + "' is not a whole number from " + std::to_string(least) + " to " +
               std::to_string(most));
    }
    return *value;
}

Benchmark benchmark_of(std::string_view word) {
    for (const auto& [name, benchmark] : benchmarks) {
        if (name == word) {
            return benchmark;
        }
    }
    refuse("there is no benchmark '" + std::string{word} + "'");
}

Mapping mapping_of(std::string_view word) {
    if (word != "near" && word != "far") {
        refuse("there is no mapping '" + std::string{word} + "'");
    }
    return word == "near" ? Mapping::near : Mapping::far;
}

Point point_of(std::string_view word) {
    const auto colon = word.find(':');
    if (colon == std::string_view::npos) {
        refuse("'" + std::string{word} + "' is not SIZE:COUNT");
    }
    return {.size_byte = amount(word.substr(0, colon), 0, most_byte),
            .count = amount(word.substr(colon + 1), 1, most_calls)};
}

void check_points(const Options& options) {
    if (options.points.empty()) {
        refuse("there is no size to measure");
    }
    for (const Point& point : options.points) {
        if (options.benchmark == Benchmark::barrier && point.size_byte != 0) {
            refuse("a barrier has no message, so its size is 0");
        }
        if (options.benchmark == Benchmark::allreduce && point.size_byte % sizeof(float) != 0) {
            refuse(std::to_string(point.size_byte) + " bytes are not a number of floats of 4 bytes");
        }
    }
}

}  // namespace

std::string_view name_of(Benchmark benchmark) {
    return benchmarks.at(static_cast<std::size_t>(benchmark)).first;
}

Options parse_options(std::span<char* const> arguments) {
    if (arguments.empty()) {
        refuse("no benchmark was named");
    }
    Options options;
    options.benchmark = benchmark_of(arguments.front());
    for (std::size_t position = 1; position < arguments.size(); ++position) {
        const std::string_view word = arguments[position];
        const std::string_view value = position + 1 < arguments.size() ? arguments[position + 1] : "";
        if (word == "--group-ranks") {
            options.group_ranks = static_cast<int>(amount(value, 2, most_ranks));
            ++position;
        } else if (word == "--mapping") {
            options.mapping = mapping_of(value);
            ++position;
        } else {
            options.points.push_back(point_of(word));
        }
    }
    check_points(options);
    return options;
}

}  // namespace tare::collective
