// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/march.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace tare::npb::flow {

namespace {

constexpr int most_steps = 1'000'000;
/// Of all three kernels' values.
constexpr double tolerance = 1e-8;

}  // namespace

March march_of(const Arguments& arguments, const March& of_class, const Edges& edges) {
    const auto whole = [&](std::string_view name, double value, int least, int most) {
        return static_cast<int>(whole_number(name, arguments.setting(name, value), least, most));
    };
    const March march{.edge = whole("edge", of_class.edge, edges.least, edges.most),
                      .steps = whole("steps", of_class.steps, 1, most_steps),
                      .time_step = arguments.setting("time_step", of_class.time_step)};
    if (!(march.time_step > 0)) {
        throw WrongUse("time_step is more than 0");
    }
    return march;
}

std::vector<Check> checks(const Arguments& arguments, const Class& published, const Point& residual,
                          const Point& error) {
    std::vector<Check> checks;
    add_norms(checks, arguments, "residual", residual, published.residual);
    add_norms(checks, arguments, "error", error, published.error);
    return checks;
}

void add_check(std::vector<Check>& checks, const Arguments& arguments, std::string_view name, double computed,
               double published) {
    checks.push_back({.name = std::string{name},
                      .computed = computed,
                      .published = arguments.is_published() ? std::optional{published} : std::nullopt,
                      .tolerance = tolerance});
}

void add_norms(std::vector<Check>& checks, const Arguments& arguments, std::string_view name,
               const Point& computed, const Point& published) {
    for (std::size_t component = 0; component < computed.size(); ++component) {
        add_check(checks, arguments, std::string{name} + ' ' + std::to_string(component + 1),
                  computed.at(component), published.at(component));
    }
}

}  // namespace tare::npb::flow
