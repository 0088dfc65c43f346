// SPDX-License-Identifier: Apache-2.0
#include "fake/options.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/number.hpp"

namespace tare::fake {

namespace {

constexpr std::array<std::pair<std::string_view, Behaviour>, 8> behaviours{{
    {"ok", Behaviour::ok},
    {"fail", Behaviour::fail},
    {"crash", Behaviour::crash},
    {"hang", Behaviour::hang},
    {"garbage", Behaviour::garbage},
    {"endless", Behaviour::endless},
    {"truncated", Behaviour::truncated},
    {"missing", Behaviour::missing},
}};

constexpr unsigned most_points = 60;  // the last one is at 2^30 bytes

double parse_above(std::string_view text, double low) {
    const auto value = parse_number<double>(text);
    if (!value || !std::isfinite(*value) || *value < low) {
        throw std::invalid_argument("'" + std::string{text} + "' is not a number from " +
                                    std::to_string(low) + " up");
    }
    return *value;
}

double parse_amount(std::string_view text) { return parse_above(text, 0.0); }

std::uint64_t parse_seed(std::string_view text) {
    const auto seed = parse_number<std::uint64_t>(text);
    if (!seed) {
        throw std::invalid_argument("'" + std::string{text} + "' is not a whole number");
    }
    return *seed;
}

unsigned parse_curve(std::string_view text) {
    const auto count = parse_number<unsigned>(text);
    if (!count || *count > most_points) {
        throw std::invalid_argument("'" + std::string{text} + "' is not a number of points up to " +
                                    std::to_string(most_points));
    }
    return *count;
}

Behaviour parse_behaviour(std::string_view text) {
    const auto* const found = std::find_if(behaviours.begin(), behaviours.end(),
                                           [text](const auto& known) { return known.first == text; });
    if (found == behaviours.end()) {
        throw std::invalid_argument("'" + std::string{text} + "' is not a behaviour");
    }
    return found->second;
}

void set_option(Options& options, std::string_view name, std::string_view value) {
    if (name == "--value") {
        options.value = parse_amount(value);
    } else if (name == "--noise") {
        options.noise = parse_amount(value);
    } else if (name == "--seed") {
        options.seed = parse_seed(value);
    } else if (name == "--sleep-s") {
        options.sleep_s = parse_amount(value);
    } else if (name == "--curve") {
        options.curve = parse_curve(value);
    } else if (name == "--slices" && value == "yes") {
        options.slices = true;
    } else if (name == "--behaviour") {
        options.behaviour = parse_behaviour(value);
    } else {
        throw std::invalid_argument("unknown option");
    }
}

}  // namespace

Options parse_options(std::span<char* const> arguments, const char* slowdown) {
    Options options;
    for (std::size_t position = 0; position < arguments.size(); position += 2) {
        const std::string_view name = arguments[position];
        try {
            set_option(options, name, position + 1 < arguments.size() ? arguments[position + 1] : "");
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(std::string{name} + ": " + error.what() + "; " +
                                        std::string{how_to_use});
        }
    }
    if (slowdown != nullptr) {
        constexpr double nothing_left = -1.0;
        options.slowdown = parse_above(slowdown, nothing_left);
    }
    return options;
}

}  // namespace tare::fake
