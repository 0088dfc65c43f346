// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "npb/common/problem_class.hpp"
#include "npb/common/simd.hpp"

namespace tare::npb {

/// The command line asks for something that does not exist; the message says what there is.
class WrongUse : public std::invalid_argument {
  public:
    using std::invalid_argument::invalid_argument;
};

/// `value` as a whole number from `least` to `most`. Throws `WrongUse` if it is not one.
[[nodiscard]] std::int64_t whole_number(std::string_view name, double value, std::int64_t least,
                                        std::int64_t most);

/// Which messages a kernel sends: the fewest that its algorithm needs, or as many, as large and between the
/// same ranks as the reference's MPI program, so that overheads compare with published ones (docs/npb.md). A
/// kernel whose own messages are the reference's sends the same either way.
enum class Messages { own, reference };

[[nodiscard]] std::string_view name_of(Messages messages);

/// What the command line asks of any kernel.
struct Arguments {
    ProblemClass problem_class = ProblemClass::s;
    Simd simd = Simd::plain;
    /// Why these, in words.
    std::string simd_rule{};
    int threads = 1;
    Messages messages = Messages::own;
    bool json = false;
    /// The problem's own values in place of the class's, such as {"iterations", 3}.
    std::map<std::string, double, std::less<>> settings;

    /// A replaced value, or that of the class. Throws `WrongUse` for a whole number that is not whole.
    template <typename Number>
    [[nodiscard]] Number setting(std::string_view name, Number of_class) const {
        const auto found = settings.find(name);
        if (found == settings.end()) {
            return of_class;
        }
        if constexpr (std::is_integral_v<Number>) {
            using Limits = std::numeric_limits<Number>;
            return static_cast<Number>(whole_number(name, found->second, Limits::min(), Limits::max()));
        } else {
            return static_cast<Number>(found->second);
        }
    }

    /// A changed problem has no published answer.
    [[nodiscard]] bool is_published() const { return settings.empty(); }
};

/// A kernel's row of its table of classes. Throws `WrongUse` for a class that the table lacks.
template <typename Class>
[[nodiscard]] const Class& find_class(std::span<const Class> classes, ProblemClass name,
                                      std::string_view kernel) {
    for (const Class& one : classes) {
        if (one.name == name) {
            return one;
        }
    }
    throw WrongUse(std::string{kernel} + " has no class " + letter_of(name) +
                   " here: its answer was not established");
}

/// Reads `--class A --simd avx2 --threads 2 --messages reference --json --set NAME=VALUE`. `settings` are the
/// names that this kernel knows. Throws `WrongUse`.
[[nodiscard]] Arguments parse_arguments(std::span<char* const> words,
                                        std::span<const std::string_view> settings);

}  // namespace tare::npb
