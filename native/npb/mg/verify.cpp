// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/verify.hpp"

#include <array>
#include <optional>

namespace tare::npb::mg {

namespace {

/// NPB 3.4's.
constexpr std::array<Class, 6> classes{{
    {ProblemClass::s, 32, 4, smoother_a, 0.5307707005734e-04},
    {ProblemClass::w, 128, 4, smoother_a, 0.6467329375339e-05},
    {ProblemClass::a, 256, 4, smoother_a, 0.2433365309069e-05},
    {ProblemClass::b, 256, 20, smoother_b, 0.1800564401355e-05},
    {ProblemClass::c, 512, 20, smoother_b, 0.5706732285740e-06},
    {ProblemClass::d, 1024, 50, smoother_b, 0.1583275060440e-09},
}};

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
