// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/verify.hpp"

#include <optional>

namespace tare::npb::cg {

namespace {

constexpr double tolerance = 1e-10;

}  // namespace

const Class& class_of(ProblemClass name) { return find_class<Class>(classes, name, "CG"); }

std::vector<Check> checks(const Arguments& arguments, const Estimate& estimate) {
    const auto published =
        arguments.is_published() ? std::optional{class_of(arguments.problem_class).zeta} : std::nullopt;
    return {{.name = "zeta", .computed = estimate.zeta, .published = published, .tolerance = tolerance}};
}

}  // namespace tare::npb::cg
