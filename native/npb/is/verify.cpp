// SPDX-License-Identifier: Apache-2.0
#include "npb/is/verify.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace tare::npb::is {

namespace {

Check partial_test(const Test& test, int iteration, std::int64_t found) {
    return {.name = "rank of key " + std::to_string(test.index),
            .computed = static_cast<double>(found),
            .published = static_cast<double>(test.rank_in(iteration))};
}

Check worst_of(const Test& test, const std::vector<Found>& found, std::size_t index) {
    std::vector<Check> tests;
    for (std::size_t before = 0; before < found.size(); ++before) {
        tests.push_back(partial_test(test, static_cast<int>(before) + 1, found[before].at(index)));
    }
    return *std::max_element(tests.begin(), tests.end(), [](const Check& left, const Check& right) {
        return left.relative_error() < right.relative_error();
    });
}

Check all_passed(const PartialTests& tests) {
    Check check{.name = "partial tests passed", .computed = static_cast<double>(tests.passed)};
    if (!tests.found.empty()) {
        check.published = static_cast<double>(tests.found.size() * tests_per_class);
    }
    return check;
}

}  // namespace

const Class& class_of(ProblemClass name) { return find_class<Class>(classes, name, "IS"); }

std::int64_t passed(const Class& problem, int iteration, const Found& found) {
    std::int64_t count = 0;
    for (std::size_t index = 0; index < problem.tests.size(); ++index) {
        count += found.at(index) == problem.tests.at(index).rank_in(iteration) ? 1 : 0;
    }
    return count;
}

std::vector<Check> checks(const Class& problem, const PartialTests& tests, std::int64_t faults) {
    std::vector<Check> all;
    for (std::size_t index = 0; index < problem.tests.size(); ++index) {
        const Test& test = problem.tests.at(index);
        all.push_back(tests.found.empty() ? Check{.name = "rank of key " + std::to_string(test.index)}
                                          : worst_of(test, tests.found, index));
    }
    all.push_back(all_passed(tests));
    all.push_back({.name = "faults of order", .computed = static_cast<double>(faults), .published = 0.0});
    return all;
}

}  // namespace tare::npb::is
