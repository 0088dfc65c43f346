// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/verify.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace tare::npb::cg {

namespace {

constexpr double tolerance = 1e-10;
/// 20 times what the order of sums was seen to change, on 1 to 16 ranks; a step more or less changes it 2 to 5 times.
constexpr double residual_tolerance = 1e-3;

/// What an early outer step must find. Nobody published these: they were computed apart from this program
/// (tests/npb/independent_cg.py). The last zeta alone does not show how well its solver solves.
struct Early {
    ProblemClass name;
    std::size_t step;
    double zeta;
    double recurrence_residual;
};

constexpr std::array<Early, 1> early{{
    {ProblemClass::s, 1, 9.998644157914011388, 1.2504874525507925664e-13},
}};

void append_early(const Early& expected, const Estimate& estimate, std::vector<Check>& checks) {
    const std::string where = " after step " + std::to_string(expected.step) + ", computed independently";
    checks.push_back({.name = "zeta" + where,
                      .computed = estimate.zeta,
                      .published = expected.zeta,
                      .tolerance = tolerance});
    checks.push_back({.name = "recurrence's residual" + where,
                      .computed = estimate.recurrence_residual,
                      .published = expected.recurrence_residual,
                      .tolerance = residual_tolerance});
}

}  // namespace

const Class& class_of(ProblemClass name) { return find_class<Class>(classes, name, "CG"); }

std::vector<Check> checks(const Arguments& arguments, std::span<const Estimate> estimates) {
    const auto published =
        arguments.is_published() ? std::optional{class_of(arguments.problem_class).zeta} : std::nullopt;
    std::vector<Check> checks{{.name = "zeta",
                               .computed = estimates.back().zeta,
                               .published = published,
                               .tolerance = tolerance}};
    for (const Early& expected : early) {
        if (published && expected.name == arguments.problem_class) {
            append_early(expected, estimates[expected.step - 1], checks);
        }
    }
    return checks;
}

}  // namespace tare::npb::cg
