// SPDX-License-Identifier: Apache-2.0
#include "npb/sp/verify.hpp"

namespace tare::npb::sp {

const Class& class_of(ProblemClass name) { return find_class<Class>(classes, name, "SP"); }

std::vector<Check> checks(const Arguments& arguments, const flow::Point& residual, const flow::Point& error) {
    const Class& published = class_of(arguments.problem_class);
    std::vector<Check> found;
    flow::add_norms(found, arguments, "residual", residual, published.residual);
    flow::add_norms(found, arguments, "error", error, published.error);
    return found;
}

}  // namespace tare::npb::sp
