// SPDX-License-Identifier: Apache-2.0
#include "npb/is/problem.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/is/keys.hpp"
#include "npb/is/ranking.hpp"
#include "npb/is/verify.hpp"

namespace tare::npb::is {

namespace {

constexpr std::array<std::string_view, 3> settings{"keys_exponent", "values_exponent", "iterations"};
constexpr int published_iterations = 10;
constexpr double million = 1e6;

Sizes sizes_of(const Arguments& arguments) {
    constexpr int most_keys_exponent = 31;
    constexpr int most_values_exponent = offset_bits + most_buckets_exponent;
    const Class& published = class_of(arguments.problem_class);
    const Sizes sizes{.keys_exponent = arguments.setting("keys_exponent", published.keys_exponent),
                      .values_exponent = arguments.setting("values_exponent", published.values_exponent),
                      .iterations = arguments.setting("iterations", published_iterations)};
    if (sizes.keys_exponent < 1 || sizes.keys_exponent > most_keys_exponent || sizes.values_exponent < 2 ||
        sizes.values_exponent > most_values_exponent) {
        throw WrongUse("keys_exponent is 1 to 31, values_exponent is 2 to 28");
    }
    if (sizes.iterations < 1 || 2 * std::int64_t{sizes.iterations} >= sizes.keys() ||
        std::cmp_greater(sizes.iterations, sizes.values())) {
        throw WrongUse("iterations are at least 1, less than half of the keys and no more than the values");
    }
    return sizes;
}

Way way_chosen(const Arguments& arguments, const Sizes& sizes, int ranks) {
    return arguments.messages == Messages::reference ? Way::whole : way_of(sizes, ranks, arguments.threads);
}

/// One rank's keys, and what ranks them.
class Problem {
  public:
    Problem(const Arguments& arguments, const World& world)
        : published_{class_of(arguments.problem_class)},
          sizes_{sizes_of(arguments)},
          share_{share_of(sizes_.keys(), world.ranks, world.rank)},
          keys_(static_cast<std::size_t>(share_.count)),
          ranking_{world,  arguments.simd, arguments.threads,
                   sizes_, keys_.span(),   way_chosen(arguments, sizes_, world.ranks)} {
        generate(sizes_, share_, keys_.span());
    }

    /// Changes the iteration's two keys, ranks all, and looks up the ranks of the partial test.
    Found iterate(int iteration) {
        alter(sizes_, share_, iteration, keys_.span());
        auto watched = watched_keys();
        ranking_.rank(times_, watched);
        Found found{};
        std::transform(watched.begin(), watched.end(), found.begin(), [this](std::uint32_t value) {
            const auto rank = ranking_.rank_of(value);
            return rank ? std::int64_t{*rank} : known_elsewhere;
        });
        return found;
    }

    /// Each iteration ends with its partial test.
    PartialTests iterate_all() {
        PartialTests tests;
        for (int iteration = 1; iteration <= sizes_.iterations; ++iteration) {
            tests.found.push_back(iterate(iteration));
            tests.passed += passed(published_, iteration, tests.found.back());
        }
        return tests;
    }

    void clear_times() { times_.clear(); }

    [[nodiscard]] const Sizes& sizes() const { return sizes_; }
    [[nodiscard]] std::vector<Phase> phases() const { return times_.list(); }
    [[nodiscard]] std::int64_t changed_keys() const { return changed(sizes_, share_, keys_.span()); }
    [[nodiscard]] std::int64_t faults(const World& world) const {
        return faults_of_order(ranking_, keys_.span(), world);
    }

  private:
    /// The keys of the partial test that this rank holds, and 0 for the others.
    [[nodiscard]] std::array<std::uint32_t, tests_per_class> watched_keys() const {
        std::array<std::uint32_t, tests_per_class> watched{};
        std::transform(published_.tests.begin(), published_.tests.end(), watched.begin(),
                       [this](const Test& test) {
                           return share_.has(test.index)
                                      ? keys_.span()[static_cast<std::size_t>(test.index - share_.first)]
                                      : 0;
                       });
        return watched;
    }

    Class published_;
    Sizes sizes_;
    KeyShare share_;
    Buffer<std::uint32_t> keys_;
    Ranking ranking_;
    Times times_{{"bucket", "exchange", "count"}};
};

/// Of each key of the partial test one rank of the run knows the rank; rank 0 learns them all.
PartialTests gathered(const PartialTests& tests, const World& world) {
    PartialTests all{.found = std::vector<Found>(tests.found.size())};
    const std::array counts{tests.passed, tests.changed};
    MPI_Reduce(tests.found.data(), all.found.data(), static_cast<int>(tests.found.size()) * tests_per_class,
               MPI_INT64_T, MPI_MAX, 0, world.communicator);
    std::array<std::int64_t, counts.size()> sums{};
    MPI_Reduce(counts.data(), sums.data(), static_cast<int>(counts.size()), MPI_INT64_T, MPI_SUM, 0,
               world.communicator);
    all.passed = sums.front();
    all.changed = sums.back();
    return all;
}

Outcome run(const Arguments& arguments, const World& world) {
    Problem problem{arguments, world};
    problem.iterate(1);
    problem.clear_times();
    PartialTests tests;
    const double wall_s = timed(world.communicator, [&] { tests = problem.iterate_all(); });
    tests.changed = problem.changed_keys();
    tests = arguments.is_published() ? gathered(tests, world) : PartialTests{};
    const Sizes& sizes = problem.sizes();
    return {.size = {sizes.keys()},
            .iterations = sizes.iterations,
            .wall_s = wall_s,
            .million_operations = static_cast<double>(sizes.iterations * sizes.keys()) / million,
            .operation = "keys ranked",
            .active_ranks = world.ranks,
            .checks = checks(class_of(arguments.problem_class), tests, problem.faults(world)),
            .phases = problem.phases()};
}

}  // namespace

const Kernel kernel{.name = "IS", .settings = settings, .run = run};

}  // namespace tare::npb::is
