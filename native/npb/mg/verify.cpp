// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/verify.hpp"

#include <optional>

namespace tare::npb::mg {

namespace {

constexpr double tolerance = 1e-8;

}  // namespace

const Class& class_of(ProblemClass name) { return find_class<Class>(classes, name, "MG"); }

std::vector<Check> checks(const Arguments& arguments, double norm) {
    const double published = class_of(arguments.problem_class).published_norm;
    return {{.name = "residual norm",
             .computed = norm,
             .published = arguments.is_published() ? std::optional{published} : std::nullopt,
             .tolerance = tolerance}};
}

}  // namespace tare::npb::mg
