// SPDX-License-Identifier: Apache-2.0
#include "hpl/options.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "common/number.hpp"

namespace tare::hpl {

namespace {

constexpr int most = 1 << 24;

constexpr std::array<std::pair<std::string_view, int Problem::*>, 4> names{{
    {"--size", &Problem::size},
    {"--block", &Problem::block},
    {"--process-rows", &Problem::process_rows},
    {"--process-columns", &Problem::process_columns},
}};

void set(Problem& problem, std::string_view name, std::string_view value) {
    const auto* const known =
        std::find_if(names.begin(), names.end(), [name](const auto& pair) { return pair.first == name; });
    if (known == names.end()) {
        throw std::invalid_argument("unknown option '" + std::string{name} + "'");
    }
    const auto number = parse_number<int>(value);
    if (!number || *number < 1 || *number > most) {
        throw std::invalid_argument(std::string{name} + " is a whole number from 1 to " +
                                    std::to_string(most) + ", not '" + std::string{value} + "'");
    }
    problem.*(known->second) = *number;
}

}  // namespace

Problem parse_options(std::span<char* const> words, int ranks) {
    Problem problem;
    for (std::size_t index = 0; index < words.size(); index += 2) {
        set(problem, words[index], index + 1 < words.size() ? words[index + 1] : "");
    }
    if (problem.size == 0) {
        throw std::invalid_argument(
            "usage: hpl --size N [--block NB] [--process-rows P] [--process-columns Q]");
    }
    if (std::int64_t{problem.process_rows} * problem.process_columns != ranks) {
        throw std::invalid_argument("a grid of " + std::to_string(problem.process_rows) + " by " +
                                    std::to_string(problem.process_columns) +
                                    " processes needs as many ranks, not " + std::to_string(ranks));
    }
    return problem;
}

}  // namespace tare::hpl
