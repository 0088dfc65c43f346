// SPDX-License-Identifier: Apache-2.0
#include "npb/is/verify.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

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

/// Larger than any key.
constexpr std::uint32_t nothing = 0xffffffff;

/// Sums of this tell two sets of keys apart, whatever their order (the finalizer of SplitMix64).
std::uint64_t fingerprint(std::uint32_t key) {
    // NOLINTBEGIN(*-magic-numbers): the numbers are the function
    std::uint64_t bits = key + 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31U);
    // NOLINTEND(*-magic-numbers)
}

std::uint64_t fingerprint_of(std::span<const std::uint32_t> keys) {
    std::uint64_t sum = 0;
    for (const std::uint32_t key : keys) {
        sum += fingerprint(key);
    }
    return sum;
}

/// This rank's keys, each at its rank; places that no key has hold `nothing`.
std::vector<std::uint32_t> placed(const Ranking& ranking) {
    std::int64_t count = 0;
    ranking.for_each_key([&](std::uint32_t /*value*/) { ++count; });
    std::vector<std::uint32_t> sorted(static_cast<std::size_t>(count), nothing);
    const Range& range = ranking.range();
    std::vector<std::uint32_t> next(ranking.ranks().begin(), ranking.ranks().end());
    ranking.for_each_key([&](std::uint32_t value) {
        const std::uint32_t place = next[value - range.first_value]++ - range.first_rank;
        if (place < sorted.size()) {
            sorted[place] = value;
        }
    });
    return sorted;
}

/// The largest key of the ranks before this one; 0 if they have none. From rank to rank, as the reference
/// does.
std::uint32_t largest_before(std::span<const std::uint32_t> sorted, const World& world) {
    constexpr int tag = 0;
    std::uint32_t before = 0;
    if (world.rank > 0) {
        MPI_Recv(&before, 1, MPI_UINT32_T, world.rank - 1, tag, world.communicator, MPI_STATUS_IGNORE);
    }
    const std::uint32_t here = sorted.empty() ? 0 : *std::max_element(sorted.begin(), sorted.end());
    const std::uint32_t largest = std::max(before, here);
    if (world.rank + 1 < world.ranks) {
        MPI_Send(&largest, 1, MPI_UINT32_T, world.rank + 1, tag, world.communicator);
    }
    return before;
}

std::int64_t faults_here(std::span<const std::uint32_t> sorted, std::uint32_t before) {
    std::int64_t faults = 0;
    for (const std::uint32_t key : sorted) {
        faults += key < before || key == nothing ? 1 : 0;
        before = key;
    }
    return faults;
}

bool are_same_keys(std::span<const std::uint32_t> sorted, std::span<const std::uint32_t> original,
                   const World& world) {
    std::uint64_t difference = fingerprint_of(sorted) - fingerprint_of(original);
    MPI_Allreduce(MPI_IN_PLACE, &difference, 1, MPI_UINT64_T, MPI_SUM, world.communicator);
    return difference == 0;
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

std::int64_t faults_of_order(const Ranking& ranking, std::span<const std::uint32_t> original,
                             const World& world) {
    const std::vector<std::uint32_t> sorted = placed(ranking);
    const std::int64_t faults =
        faults_here(sorted, largest_before(sorted, world)) + (are_same_keys(sorted, original, world) ? 0 : 1);
    std::int64_t all = 0;
    MPI_Reduce(&faults, &all, 1, MPI_INT64_T, MPI_SUM, 0, world.communicator);
    return all;
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
