// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "npb/common/arguments.hpp"

namespace tare::npb::is {

/// One value of the partial test: iteration i must find the key at `index` to have the rank
/// `base_rank + direction * (i - origin)`, as the two keys that each iteration changes move it.
struct Test {
    std::int64_t index;
    std::int64_t base_rank;
    int direction;
    int origin;

    [[nodiscard]] constexpr std::int64_t rank_in(int iteration) const {
        return base_rank + direction * (std::int64_t{iteration} - origin);
    }
};

constexpr int tests_per_class = 5;

struct Class {
    ProblemClass name;
    /// The problem has 2^keys_exponent keys.
    int keys_exponent;
    /// Keys are less than 2^values_exponent.
    int values_exponent;
    std::array<Test, tests_per_class> tests;
};

/// NAS-95-020, section on IS; the values of the partial test are those that NPB 3.4 publishes.
constexpr std::array<Class, 6> classes{{
    {ProblemClass::s,
     16,
     11,
     {{{48427, 0, 1, 0},
       {17148, 18, 1, 0},
       {23627, 346, 1, 0},
       {62548, 64917, -1, 0},
       {4431, 65463, -1, 0}}}},
    {ProblemClass::w,
     20,
     16,
     {{{357773, 1249, 1, 2},
       {934767, 11698, 1, 2},
       {875723, 1039987, -1, 0},
       {898999, 1043896, -1, 0},
       {404505, 1048018, -1, 0}}}},
    {ProblemClass::a,
     23,
     19,
     {{{2112377, 104, 1, 1},
       {662041, 17523, 1, 1},
       {5336171, 123928, 1, 1},
       {3642833, 8288932, -1, 1},
       {4250760, 8388264, -1, 1}}}},
    {ProblemClass::b,
     25,
     21,
     {{{41869, 33422937, -1, 0},
       {812306, 10244, 1, 0},
       {5102857, 59149, 1, 0},
       {18232239, 33135281, -1, 0},
       {26860214, 99, 1, 0}}}},
    {ProblemClass::c,
     27,
     23,
     {{{44172927, 61147, 1, 0},
       {72999161, 882988, 1, 0},
       {74326391, 266290, 1, 0},
       {129606274, 133997595, -1, 0},
       {21736814, 133525895, -1, 0}}}},
    {ProblemClass::d,
     31,
     27,
     {{{1317351170, 1, 1, 0},
       {995930646, 36538729, 1, 0},
       {1157283250, 1978098519, -1, 0},
       {1503301535, 2145192618, -1, 0},
       {1453734525, 2147425337, -1, 0}}}},
}};

}  // namespace tare::npb::is
