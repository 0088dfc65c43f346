// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "npb/cg/solve.hpp"
#include "npb/cg/verify.hpp"

namespace tare::npb::cg {

namespace {

constexpr std::array<std::string_view, 4> settings{"order", "drawn", "iterations", "shift"};

struct Problem {
    Recipe recipe;
    int iterations;
};

int whole_setting(const Arguments& arguments, std::string_view name, int of_class, int most) {
    return static_cast<int>(
        whole_number(name, arguments.setting(name, static_cast<double>(of_class)), 1, most));
}

Problem problem_of(const Arguments& arguments, const World& world) {
    constexpr int most_rows = 1 << 27;
    constexpr int most_drawn = 1000;
    constexpr int most_iterations = 1'000'000;
    const Class& chosen = class_of(arguments.problem_class);
    const int order = whole_setting(arguments, "order", chosen.order, most_rows);
    if (order < world.ranks) {
        throw WrongUse("there are more ranks than rows of the matrix");
    }
    return {.recipe = {.order = order,
                       .drawn = whole_setting(arguments, "drawn", chosen.drawn, std::min(order, most_drawn)),
                       .shift = arguments.setting("shift", chosen.shift)},
            .iterations = whole_setting(arguments, "iterations", chosen.iterations, most_iterations)};
}

/// NPB's count: as if no two of the drawn places met.
double million_operations(const Problem& problem) {
    // NOLINTBEGIN(*-magic-numbers) NPB's formula
    const double per_row = problem.recipe.drawn * (problem.recipe.drawn + 1.0);
    const double per_step = 2.0 * problem.recipe.order * (3 + per_row + 25 * (5 + per_row) + 3);
    return per_step * problem.iterations * 1e-6;
    // NOLINTEND(*-magic-numbers)
}

/// What the matrix is made from goes when it is made.
Multiply make_multiply(const Recipe& recipe, const GridShare& share, Exchange& exchange, Team& team,
                       Simd simd) {
    Matrix matrix{recipe};
    return {matrix, share, exchange, team, simd};
}

Outcome run(const Arguments& arguments, const World& world) {
    const Problem problem = problem_of(arguments, world);
    const GridShare share = share_for(arguments.messages, problem.recipe.order, world.ranks, world.rank);
    const auto exchange = make_exchange(arguments.messages, world, share);
    Team team{arguments.threads};
    Multiply multiply = make_multiply(problem.recipe, share, *exchange, team, arguments.simd);
    Solver solver{multiply, *exchange, VectorOperations{team, arguments.simd}, share, problem.recipe.shift};
    PartTimes times{{"multiply", "exchange", "update"}};
    static_cast<void>(solver.step(times));
    solver.restart();
    times.clear();
    std::vector<Estimate> estimates(static_cast<std::size_t>(problem.iterations));
    const double wall_s = timed(world.communicator, [&] {
        for (Estimate& estimate : estimates) {
            estimate = solver.step(times);
        }
    });
    return {.size = {problem.recipe.order},
            .iterations = problem.iterations,
            .wall_s = wall_s,
            .million_operations = million_operations(problem),
            .active_ranks = world.ranks,
            .checks = checks(arguments, estimates),
            .wrong_here = !std::isfinite(estimates.back().residual),
            .phases = times.list()};
}

}  // namespace

const Kernel kernel{.name = "CG", .settings = settings, .run = run};

}  // namespace tare::npb::cg
