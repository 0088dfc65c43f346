// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "npb/common/arguments.hpp"
#include "npb/common/outcome.hpp"
#include "npb/flow/field.hpp"

namespace tare::npb::flow {

/// How LU, BT and SP go through time.
struct March {
    /// Points along each edge of the cube, its boundary among them.
    int edge = 0;
    int steps = 0;
    double time_step = 0;
};

/// Places of an axis that a rank of BT or SP must have: the reference's program refuses smaller cells.
[[nodiscard]] constexpr int least_places(Messages messages) {
    constexpr int least_of_cell = 3;
    return messages == Messages::reference ? least_of_cell : ghost_layers;
}

/// The edges that a kernel takes.
struct Edges {
    int least = 0;
    int most = 0;
};

/// What `--set` may change of a march.
constexpr std::array<std::string_view, 3> march_settings{"edge", "steps", "time_step"};

/// The march of the class, or what is set instead. Throws `WrongUse` where that is no march.
[[nodiscard]] March march_of(const Arguments& arguments, const March& of_class, const Edges& edges);

/// A class of BT or SP.
struct Class {
    ProblemClass name = ProblemClass::s;
    March march{};
    /// What the last step must leave, per component: the norms of the residual (of the right-hand side
    /// without its factor `time_step`) and of the difference from the exact solution (RNR-94-007 section 3.5,
    /// NPB 3).
    Point residual{};
    Point error{};
};

/// The norms after the last step against the published ones.
[[nodiscard]] std::vector<Check> checks(const Arguments& arguments, const Class& published,
                                        const Point& residual, const Point& error);

/// Adds a value that the march must end with.
void add_check(std::vector<Check>& checks, const Arguments& arguments, std::string_view name, double computed,
               double published);

/// Adds the norms of the five components, numbered from 1.
void add_norms(std::vector<Check>& checks, const Arguments& arguments, std::string_view name,
               const Point& computed, const Point& published);

}  // namespace tare::npb::flow
