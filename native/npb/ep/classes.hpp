// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "npb/common/arguments.hpp"
#include "npb/ep/pairs.hpp"

namespace tare::npb::ep {

/// Two sums of Gaussian deviates that a class must give (NAS-95-020, table 2.1, to more digits).
struct Sums {
    double x;
    double y;
};

struct Class {
    ProblemClass name;
    /// The problem has 2^exponent pairs.
    int exponent;
    Sums published;
    /// Pairs whose larger deviate lies in each annulus; empty where they are not known.
    std::span<const std::int64_t> counts;
};

constexpr std::array<std::int64_t, annuli> counts_s{6140517, 5865300, 1100361, 68546, 1648, 17, 0, 0, 0, 0};
constexpr std::array<std::int64_t, annuli> counts_w{12281576, 11729692, 2202726, 137368, 3371,
                                                    36,       0,        0,       0,      0};
constexpr std::array<std::int64_t, annuli> counts_a{98257395, 93827014, 17611549, 1110028, 26536,
                                                    245,      0,        0,        0,       0};
constexpr std::array<std::int64_t, annuli> counts_b{393058470, 375280898, 70460742, 4438852, 105691,
                                                    948,       5,         0,        0,       0};

constexpr std::array<Class, 6> classes{{
    {ProblemClass::s, 24, {-3.247834652034740e+3, -6.958407078382297e+3}, counts_s},
    {ProblemClass::w, 25, {-2.863319731645753e+3, -6.320053679109499e+3}, counts_w},
    {ProblemClass::a, 28, {-4.295875165629892e+3, -1.580732573678431e+4}, counts_a},
    {ProblemClass::b, 30, {4.033815542441498e+4, -2.660669192809235e+4}, counts_b},
    {ProblemClass::c, 32, {4.764367927995374e+4, -8.084072988043731e+4}, {}},
    {ProblemClass::d, 36, {1.982481200946593e+5, -1.020596636361769e+5}, {}},
}};

}  // namespace tare::npb::ep
