// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "npb/common/arguments.hpp"
#include "npb/mg/rows.hpp"

namespace tare::npb::mg {

/// The discrete Laplacian A, negative: what the residual v - A u adds (NAS-95-020, section 2.4).
constexpr Weights minus_laplacian{.centre = 8.0 / 3, .face = 0, .edge = -1.0 / 6, .corner = -1.0 / 12};
/// The smoother S(a).
constexpr Weights smoother_a{.centre = -3.0 / 8, .face = 1.0 / 32, .edge = -1.0 / 64, .corner = 0};
/// The smoother S(b).
constexpr Weights smoother_b{.centre = -3.0 / 17, .face = 1.0 / 33, .edge = -1.0 / 61, .corner = 0};

struct Class {
    ProblemClass name;
    /// The grid has edge^3 points.
    int edge;
    /// V-cycles.
    int iterations;
    Weights smoother;
    /// The last residual's root mean square.
    double published_norm;
};

constexpr std::array<Class, 6> classes{{
    {ProblemClass::s, 32, 4, smoother_a, 0.5307707005734e-04},
    {ProblemClass::w, 128, 4, smoother_a, 0.6467329375339e-05},
    {ProblemClass::a, 256, 4, smoother_a, 0.2433365309069e-05},
    {ProblemClass::b, 256, 20, smoother_b, 0.1800564401355e-05},
    {ProblemClass::c, 512, 20, smoother_b, 0.5706732285740e-06},
    {ProblemClass::d, 1024, 50, smoother_b, 0.1583275060440e-09},
}};

}  // namespace tare::npb::mg
