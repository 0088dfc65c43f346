// SPDX-License-Identifier: Apache-2.0
#include "npb/sp/problem.hpp"

#include <array>
#include <string_view>

#include "npb/common/timing.hpp"
#include "npb/sp/solver.hpp"
#include "npb/sp/verify.hpp"

namespace tare::npb::sp {

namespace {

constexpr std::array<std::string_view, 3> settings{"edge", "steps", "time_step"};

enum class Part { borders, planes, z };
using Parts = Phases<Part, 3>;

struct Problem {
    int edge;
    int steps;
    double time_step;
};

Problem problem_of(const Arguments& arguments) {
    constexpr int least_edge = 6;
    const Class& chosen = class_of(arguments.problem_class);
    const Problem problem{.edge = arguments.setting("edge", chosen.edge),
                          .steps = arguments.setting("steps", chosen.steps),
                          .time_step = arguments.setting("time_step", chosen.time_step)};
    if (problem.edge < least_edge || problem.steps < 1 || !(problem.time_step > 0)) {
        throw WrongUse("edge is at least 6, steps at least 1, time_step more than 0");
    }
    return problem;
}

/// NPB's own count (NPB 3.4).
double million_operations(const Problem& problem) {
    constexpr double per_million = 1e-6;
    constexpr double per_point = 881.174;
    constexpr double per_face_point = -4683.91;
    constexpr double per_edge_point = 11484.5;
    constexpr double per_step = -19272.4;
    const double edge = problem.edge;
    return per_million * problem.steps *
           (per_step + edge * (per_edge_point + edge * (per_face_point + edge * per_point)));
}

void step(Solver& solver, Parts& parts) {
    parts.time(Part::borders, [&] { solver.fetch_borders(); });
    parts.time(Part::planes, [&] { solver.sweep_planes(); });
    parts.time(Part::z, [&] { solver.sweep_z(); });
}

/// One step is not timed; then the field is set anew.
double advance(Solver& solver, const Problem& problem, Parts& parts, MPI_Comm communicator) {
    solver.start();
    step(solver, parts);
    solver.start();
    parts.clear();
    return timed(communicator, [&] {
        for (int count = 0; count < problem.steps; ++count) {
            step(solver, parts);
        }
    });
}

Outcome run(const Arguments& arguments, const World& world) {
    refuse_threads(arguments);
    const Problem problem = problem_of(arguments);
    const int side = flow::square_side(world.ranks);
    flow::require_room(problem.edge, side, side);
    Parts parts{{"borders", "planes", "z"}};
    Outcome outcome{.size = {problem.edge, problem.edge, problem.edge},
                    .iterations = problem.steps,
                    .million_operations = million_operations(problem),
                    .active_ranks = side * side,
                    .phases = parts.list()};
    const Communicator active = first_ranks(world, side * side);
    if (active.has_part()) {
        const auto grid = flow::ProcessGrid::of(World::of(active.get()), side, side);
        Solver solver{grid, problem.edge, problem.time_step, arguments.simd};
        outcome.wall_s = advance(solver, problem, parts, active.get());
        outcome.checks = checks(arguments, solver.residual_norms(), solver.error_norms());
        outcome.phases = parts.list();
    }
    return outcome;
}

}  // namespace

const Kernel kernel{.name = "SP", .settings = settings, .run = run};

}  // namespace tare::npb::sp
