// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tare::fake {

constexpr std::string_view how_to_use =
    "write: fake [--value V] [--noise CV] [--seed N] [--sleep-s S] [--curve N] [--slices yes] "
    "[--behaviour ok|fail|crash|hang|garbage|endless|truncated|missing]";

enum class Behaviour : std::uint8_t { ok, fail, crash, hang, garbage, endless, truncated, missing };

struct Options {
    double value = 1.0;
    double noise = 0.0;  ///< Coefficient of variation: standard deviation by mean.
    std::optional<std::uint64_t> seed = std::nullopt;  ///< Nothing: another one each time.
    double sleep_s = 0.0;
    unsigned curve = 0;   ///< How many points of a curve to report beside the value.
    bool slices = false;  ///< Serve turns instead (fake/slices.hpp).
    Behaviour behaviour = Behaviour::ok;
    double slowdown = 0.0;  ///< Fraction by which the value grows; from TARE_FAKE_SLOWDOWN.
};

/// Reads the arguments that follow the program's name, and the text of TARE_FAKE_SLOWDOWN or null;
/// throws `std::invalid_argument` that says what is wrong.
[[nodiscard]] Options parse_options(std::span<char* const> arguments, const char* slowdown);

}  // namespace tare::fake
