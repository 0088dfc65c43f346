// SPDX-License-Identifier: Apache-2.0
#include "npb/sp/problem.hpp"

#include "npb/common/timing.hpp"
#include "npb/flow/border.hpp"
#include "npb/flow/march.hpp"
#include "npb/sp/solver.hpp"
#include "npb/sp/verify.hpp"

namespace tare::npb::sp {

namespace {

constexpr flow::Edges edges{.least = 6, .most = flow::most_edge};

enum class Part { borders, planes, z };
using Parts = Phases<Part, 3>;

/// NPB's own count (NPB 3.4).
double million_operations(const flow::March& march) {
    constexpr double per_million = 1e-6;
    constexpr double per_point = 881.174;
    constexpr double per_face_point = -4683.91;
    constexpr double per_edge_point = 11484.5;
    constexpr double per_step = -19272.4;
    const double edge = march.edge;
    return per_million * march.steps *
           (per_step + edge * (per_edge_point + edge * (per_face_point + edge * per_point)));
}

void step(Solver& solver, Parts& parts) {
    parts.time(Part::borders, [&] { solver.fetch_borders(); });
    parts.time(Part::planes, [&] { solver.sweep_planes(); });
    parts.time(Part::z, [&] { solver.sweep_z(); });
}

/// One step is not timed; then the field is set anew.
double advance(Solver& solver, const flow::March& march, Parts& parts, MPI_Comm communicator) {
    solver.start();
    step(solver, parts);
    solver.start();
    parts.clear();
    return timed(communicator, [&] {
        for (int count = 0; count < march.steps; ++count) {
            step(solver, parts);
        }
    });
}

Outcome run(const Arguments& arguments, const World& world) {
    const flow::March march = flow::march_of(arguments, class_of(arguments.problem_class).march, edges);
    const int side = flow::square_side(world.ranks);
    flow::require_room(march.edge, side, side);
    Parts parts{{"borders", "planes", "z"}};
    Outcome outcome{.size = {march.edge, march.edge, march.edge},
                    .iterations = march.steps,
                    .million_operations = million_operations(march),
                    .active_ranks = side * side,
                    .phases = parts.list()};
    const Communicator active = first_ranks(world, side * side);
    if (active.has_part()) {
        const auto grid = flow::ProcessGrid::of(World::of(active.get()), side, side);
        Team team{arguments.threads};
        Solver solver{grid, march.edge, march.time_step, arguments.simd, team};
        outcome.wall_s = advance(solver, march, parts, active.get());
        outcome.checks = checks(arguments, solver.residual_norms(), solver.error_norms());
        outcome.phases = parts.list();
    }
    return outcome;
}

}  // namespace

const Kernel kernel{.name = "SP", .settings = flow::march_settings, .run = run};

}  // namespace tare::npb::sp
