// SPDX-License-Identifier: Apache-2.0
#include "npb/bt/verify.hpp"

namespace tare::npb::bt {

const Class& class_of(ProblemClass name) { return find_class<Class>(classes, name, "BT"); }

std::vector<Check> checks(const Arguments& arguments, const Norms& norms) {
    const Class& published = class_of(arguments.problem_class);
    std::vector<Check> found;
    flow::add_norms(found, arguments, "residual", norms.residual, published.residual_norms);
    flow::add_norms(found, arguments, "error", norms.error, published.error_norms);
    return found;
}

}  // namespace tare::npb::bt
