// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

#include "npb/cg/solve.hpp"
#include "npb/common/arguments.hpp"
#include "npb/common/outcome.hpp"

namespace tare::npb::cg {

struct Class {
    ProblemClass name;
    /// Rows and columns of the matrix.
    int order;
    /// Places drawn for each random vector (NPB's "nonzer").
    int drawn;
    /// Outer steps.
    int iterations;
    /// Taken from the whole spectrum, so that the solver works on an indefinite matrix.
    double shift;
    /// The published estimate of the eigenvalue (NAS-95-020, table of section 2.5, to more digits).
    double zeta;
};

constexpr std::array<Class, 6> classes{{
    {ProblemClass::s, 1400, 7, 15, 10, 8.5971775078648},
    {ProblemClass::w, 7000, 8, 15, 12, 10.362595087124},
    {ProblemClass::a, 14000, 11, 15, 20, 17.130235054029},
    {ProblemClass::b, 75000, 13, 75, 60, 22.712745482631},
    {ProblemClass::c, 150000, 15, 75, 110, 28.973605592845},
    {ProblemClass::d, 1500000, 21, 100, 500, 52.514532105794},
}};

/// Throws `WrongUse` for a class that has no published answer.
[[nodiscard]] const Class& class_of(ProblemClass name);

/// The last step's estimate against the published one, and early steps' against independently computed ones.
/// `estimates` has one of each outer step.
[[nodiscard]] std::vector<Check> checks(const Arguments& arguments, std::span<const Estimate> estimates);

}  // namespace tare::npb::cg
