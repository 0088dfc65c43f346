// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/verify.hpp"

namespace tare::npb::lu {

const Class& class_of(ProblemClass name) { return find_class<Class>(classes, name, "LU"); }

std::vector<Check> checks(const Arguments& arguments, const Answer& computed) {
    const Answer& published = class_of(arguments.problem_class).published;
    std::vector<Check> found;
    flow::add_norms(found, arguments, "residual", computed.residual, published.residual);
    flow::add_norms(found, arguments, "error", computed.error, published.error);
    flow::add_check(found, arguments, "surface integral", computed.surface_integral,
                    published.surface_integral);
    return found;
}

}  // namespace tare::npb::lu
