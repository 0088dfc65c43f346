// SPDX-License-Identifier: Apache-2.0
#include "npb/is/verify.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace tare::npb::is {

namespace {

/// NAS-95-020, section on IS: five keys are tested in each of ten iterations, each of which changes two keys.
constexpr double published_passes = 50;
constexpr double published_changes = 20;

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

Check check_of_count(std::string name, std::int64_t count, double published, const PartialTests& tests) {
    Check check{.name = std::move(name), .computed = static_cast<double>(count)};
    if (!tests.found.empty()) {
        check.published = published;
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

std::int64_t changed(const Sizes& sizes, const KeyShare& share, std::span<const std::uint32_t> keys) {
    const auto holds = [&](std::int64_t index, std::uint32_t value) {
        return share.has(index) && keys[static_cast<std::size_t>(index - share.first)] == value;
    };
    std::int64_t count = 0;
    for (int iteration = 1; iteration <= sizes.iterations; ++iteration) {
        const auto step = static_cast<std::uint32_t>(iteration);
        count += holds(iteration, step) ? 1 : 0;
        count += holds(iteration + sizes.iterations, sizes.values() - step) ? 1 : 0;
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
    all.push_back(check_of_count("partial tests passed", tests.passed, published_passes, tests));
    all.push_back(check_of_count("keys changed", tests.changed, published_changes, tests));
    all.push_back({.name = "faults of order", .computed = static_cast<double>(faults), .published = 0.0});
    return all;
}

}  // namespace tare::npb::is
