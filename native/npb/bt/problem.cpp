// SPDX-License-Identifier: Apache-2.0
#include "npb/bt/problem.hpp"

#include <array>
#include <string_view>

#include "npb/bt/solver.hpp"
#include "npb/bt/verify.hpp"
#include "npb/common/timing.hpp"

namespace tare::npb::bt {

namespace {

constexpr std::array<std::string_view, 3> settings{"edge", "steps", "time_step"};

struct Problem {
    int edge;
    int steps;
    double time_step;
};

Problem problem_of(const Arguments& arguments) {
    const Class& of_class = class_of(arguments.problem_class);
    const Problem found{.edge = arguments.setting("edge", of_class.edge),
                        .steps = arguments.setting("steps", of_class.steps),
                        .time_step = arguments.setting("time_step", of_class.time_step)};
    constexpr int least_edge = 5;
    if (found.edge < least_edge || found.steps < 1 || !(found.time_step > 0)) {
        throw WrongUse("edge is at least 5, steps at least 1, time_step more than 0");
    }
    refuse_threads(arguments);
    return found;
}

/// NPB's own count (NPB 3.4).
double million_operations(const Problem& problem) {
    constexpr double per_million = 1e-6;
    constexpr double per_point = 3478.8;
    constexpr double per_face_point = -17655.7;
    constexpr double per_edge_point = 28023.7;
    const double edge = problem.edge;
    return per_million * problem.steps * edge * (per_edge_point + edge * (per_face_point + edge * per_point));
}

Outcome outcome_of(const Problem& problem, int side) {
    return {.size = {problem.edge, problem.edge, problem.edge},
            .iterations = problem.steps,
            .million_operations = million_operations(problem),
            .active_ranks = side * side,
            .phases = Times{}.list()};
}

void solve(const Arguments& arguments, const Problem& problem, const flow::ProcessGrid& grid,
           Outcome& outcome) {
    Solver solver{grid, problem.edge, problem.time_step, arguments.simd};
    Times times;
    solver.step(times);  // touches all memory and code once, as NPB does
    solver.start();
    times.clear();
    outcome.wall_s = timed(grid.world.communicator, [&] {
        for (int step = 0; step < problem.steps; ++step) {
            solver.step(times);
        }
    });
    outcome.phases = times.list();
    const flow::Point error = solver.error_norms();
    outcome.checks = checks(arguments, {.residual = solver.residual_norms(), .error = error});
}

Outcome run(const Arguments& arguments, const World& world) {
    const Problem problem = problem_of(arguments);
    const int side = flow::square_side(world.ranks);
    flow::require_room(problem.edge, side, side);
    const Communicator active = first_ranks(world, side * side);
    Outcome outcome = outcome_of(problem, side);
    if (active.has_part()) {
        solve(arguments, problem, flow::ProcessGrid::of(World::of(active.get()), side, side), outcome);
    }
    return outcome;
}

}  // namespace

const Kernel kernel{.name = "BT", .settings = settings, .run = run};

}  // namespace tare::npb::bt
