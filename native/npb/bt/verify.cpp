// SPDX-License-Identifier: Apache-2.0
#include "npb/bt/verify.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace tare::npb::bt {

namespace {

constexpr double tolerance = 1e-8;

}  // namespace

const Class& class_of(ProblemClass name) { return find_class<Class>(classes, name, "BT"); }

std::vector<Check> checks(const Arguments& arguments, const Norms& norms) {
    std::vector<Check> found;
    const auto add = [&](const std::string& name, const flow::Point& computed, const flow::Point& published) {
        for (std::size_t component = 0; component < computed.size(); ++component) {
            found.push_back({.name = name + " norm " + std::to_string(component + 1),
                             .computed = computed.at(component),
                             .published = arguments.is_published() ? std::optional{published.at(component)}
                                                                   : std::nullopt,
                             .tolerance = tolerance});
        }
    };
    const Class& of_class = class_of(arguments.problem_class);
    add("residual", norms.residual, of_class.residual_norms);
    add("error", norms.error, of_class.error_norms);
    return found;
}

}  // namespace tare::npb::bt
