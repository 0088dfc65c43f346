// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/verify.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>

namespace tare::npb::cg {

namespace {

constexpr double tolerance = 1e-10;
/// 250 times the largest effect of ranks and vector code that was seen; an inner step less gives 5 times as
/// much.
constexpr double residual_tolerance = 1e-2;
/// By the specification: one in each of 25 inner steps, one for |x - A z|.
constexpr int products_per_step = 26;

/// What an early outer step must find. Nobody published these: they were computed apart from this program, in
/// 80-bit numbers (tests/npb/independent_cg.py). The last zeta alone shows neither how far its solver went
/// nor where it started.
struct Early {
    ProblemClass name = ProblemClass::s;
    std::size_t step = 0;
    double zeta = 0;
    /// Only where 64-bit numbers can reach it: from class A on the 25th inner step is one of rounding errors.
    std::optional<double> recurrence_residual{};
};

constexpr std::array<Early, 15> early{{
    {ProblemClass::s, 1, 9.998644157914011, 1.250487453e-13},
    {ProblemClass::s, 2, 8.573327920322189, 8.773009e-16},
    {ProblemClass::s, 3, 8.5954510374058},
    {ProblemClass::w, 1, 11.99970037273809, 7.174614e-14},
    {ProblemClass::w, 2, 10.34572756640576, 2.359989e-16},
    {ProblemClass::w, 3, 10.36178801379623},
    {ProblemClass::a, 1, 19.99975812770398},
    {ProblemClass::a, 2, 17.11404957454944},
    {ProblemClass::a, 3, 17.12966689461322},
    {ProblemClass::b, 1, 59.99947515787537},
    {ProblemClass::b, 2, 21.76278461425341},
    {ProblemClass::b, 3, 22.28766170432206},
    {ProblemClass::c, 1, 109.9994423237398},
    {ProblemClass::c, 2, 27.39204371471821},
    {ProblemClass::c, 3, 28.0339761840932},
}};

void append_early(const Early& expected, const Estimate& estimate, std::vector<Check>& checks) {
    const std::string where = " after step " + std::to_string(expected.step) + ", computed independently";
    checks.push_back({.name = "zeta" + where,
                      .computed = estimate.zeta,
                      .published = expected.zeta,
                      .tolerance = tolerance});
    if (expected.recurrence_residual) {
        checks.push_back({.name = "recurrence's residual" + where,
                          .computed = estimate.recurrence_residual,
                          .published = expected.recurrence_residual,
                          .tolerance = residual_tolerance});
    }
}

struct OuterSteps {
    ProblemClass name = ProblemClass::s;
    int count = 0;
};

/// The specification's, apart from the table by which the run goes.
constexpr std::array<OuterSteps, 6> outer_steps{{
    {ProblemClass::s, 15},
    {ProblemClass::w, 15},
    {ProblemClass::a, 15},
    {ProblemClass::b, 75},
    {ProblemClass::c, 75},
    {ProblemClass::d, 100},
}};

/// Counted where the products are made: no value shows in the larger classes that an inner step is missing,
/// nor in any that an outer one is.
Check product_count(ProblemClass name, std::span<const Estimate> estimates) {
    const int products = std::accumulate(estimates.begin(), estimates.end(), 0,
                                         [](int sum, const Estimate& one) { return sum + one.products; });
    return {.name = "products with the matrix, counted",
            .computed = static_cast<double>(products),
            .published = std::ranges::find(outer_steps, name, &OuterSteps::name)->count * products_per_step};
}

}  // namespace

const Class& class_of(ProblemClass name) { return find_class<Class>(classes, name, "CG"); }

std::vector<Check> checks(const Arguments& arguments, std::span<const Estimate> estimates) {
    const auto published =
        arguments.is_published() ? std::optional{class_of(arguments.problem_class).zeta} : std::nullopt;
    std::vector<Check> checks{
        {.name = "zeta", .computed = estimates.back().zeta, .published = published, .tolerance = tolerance}};
    if (!published) {
        return checks;
    }
    checks.push_back(product_count(arguments.problem_class, estimates));
    for (const Early& expected : early) {
        if (expected.name == arguments.problem_class) {
            append_early(expected, estimates[expected.step - 1], checks);
        }
    }
    return checks;
}

}  // namespace tare::npb::cg
