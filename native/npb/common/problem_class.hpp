// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace tare::npb {

/// The problem sizes that NPB fixes, smallest first.
enum class ProblemClass : char { s = 'S', w = 'W', a = 'A', b = 'B', c = 'C', d = 'D' };

/// "S" or "s" to `s`; nothing for any other word.
[[nodiscard]] constexpr std::optional<ProblemClass> problem_class(std::string_view word) {
    constexpr std::string_view known = "SWABCD";
    constexpr char to_upper = 'a' - 'A';
    if (word.size() != 1) {
        return std::nullopt;
    }
    const char letter = word[0] >= 'a' ? static_cast<char>(word[0] - to_upper) : word[0];
    return known.find(letter) == std::string_view::npos ? std::nullopt
                                                        : std::optional{static_cast<ProblemClass>(letter)};
}

[[nodiscard]] constexpr char letter_of(ProblemClass chosen) { return static_cast<char>(chosen); }

}  // namespace tare::npb
