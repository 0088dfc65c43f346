// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/verify.hpp"

#include <optional>
#include <string>

namespace tare::npb::lu {

namespace {

constexpr double tolerance = 1e-8;

}  // namespace

const Class& class_of(ProblemClass name) { return find_class<Class>(classes, name, "LU"); }

std::vector<Check> checks(const Arguments& arguments, const Answer& computed) {
    const Answer& published = class_of(arguments.problem_class).published;
    std::vector<Check> found;
    const auto add = [&](std::string name, double value, double right) {
        found.push_back({.name = std::move(name),
                         .computed = value,
                         .published = arguments.is_published() ? std::optional{right} : std::nullopt,
                         .tolerance = tolerance});
    };
    for (std::size_t m = 0; m < published.residual.size(); ++m) {
        add("residual " + std::to_string(m + 1), computed.residual.at(m), published.residual.at(m));
    }
    for (std::size_t m = 0; m < published.error.size(); ++m) {
        add("error " + std::to_string(m + 1), computed.error.at(m), published.error.at(m));
    }
    add("surface integral", computed.surface_integral, published.surface_integral);
    return found;
}

}  // namespace tare::npb::lu
