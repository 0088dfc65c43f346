// SPDX-License-Identifier: Apache-2.0
#include "npb/sp/verify.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace tare::npb::sp {

namespace {

constexpr double tolerance = 1e-8;

void append(std::vector<Check>& checks, const std::string& name, const flow::Point& computed,
            const flow::Point& published, bool is_published) {
    for (std::size_t component = 0; component < computed.size(); ++component) {
        checks.push_back({.name = name + ' ' + std::to_string(component + 1),
                          .computed = computed.at(component),
                          .published = is_published ? std::optional{published.at(component)} : std::nullopt,
                          .tolerance = tolerance});
    }
}

}  // namespace

const Class& class_of(ProblemClass name) { return find_class<Class>(classes, name, "SP"); }

std::vector<Check> checks(const Arguments& arguments, const flow::Point& residual, const flow::Point& error) {
    const Class& published = class_of(arguments.problem_class);
    std::vector<Check> found;
    append(found, "residual", residual, published.residual, arguments.is_published());
    append(found, "error", error, published.error, arguments.is_published());
    return found;
}

}  // namespace tare::npb::sp
