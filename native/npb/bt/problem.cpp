// SPDX-License-Identifier: Apache-2.0
#include "npb/bt/problem.hpp"

#include "npb/bt/cell_solver.hpp"
#include "npb/bt/solver.hpp"
#include "npb/bt/verify.hpp"
#include "npb/common/timing.hpp"
#include "npb/flow/border.hpp"
#include "npb/flow/march.hpp"

namespace tare::npb::bt {

namespace {

constexpr flow::Edges edges{.least = 5, .most = flow::most_edge};

/// NPB's own count (NPB 3.4).
double million_operations(const flow::March& march) {
    constexpr double per_million = 1e-6;
    constexpr double per_point = 3478.8;
    constexpr double per_face_point = -17655.7;
    constexpr double per_edge_point = 28023.7;
    const double edge = march.edge;
    return per_million * march.steps * edge * (per_edge_point + edge * (per_face_point + edge * per_point));
}

Outcome outcome_of(const flow::March& march, int side) {
    return {.size = {march.edge, march.edge, march.edge},
            .iterations = march.steps,
            .million_operations = million_operations(march),
            .active_ranks = side * side,
            .phases = Times{}.list()};
}

/// `Any` is Solver or CellSolver.
template <typename Any>
void march_with(Any& solver, const Arguments& arguments, const flow::March& march, const World& active,
                Outcome& outcome) {
    Times times;
    solver.step(times);  // touches all memory and code once, as NPB does
    solver.start();
    times.clear();
    outcome.wall_s = timed(active.communicator, [&] {
        for (int step = 0; step < march.steps; ++step) {
            solver.step(times);
        }
    });
    outcome.phases = times.list();
    const flow::Point error = solver.error_norms();
    outcome.checks = checks(arguments, {.residual = solver.residual_norms(), .error = error});
}

/// One rank alone sends nothing either way.
void solve(const Arguments& arguments, const flow::March& march, const World& active, int side,
           Outcome& outcome) {
    Team team{arguments.threads};
    const auto march_in = [&](auto solver) { march_with(solver, arguments, march, active, outcome); };
    if (arguments.messages == Messages::reference && side > 1) {
        march_in(CellSolver{flow::CellGrid{active, side}, march.edge, march.time_step, arguments.simd, team});
    } else {
        march_in(Solver{flow::ProcessGrid::of(active, side, side), march.edge, march.time_step,
                        arguments.simd, team});
    }
}

Outcome run(const Arguments& arguments, const World& world) {
    const flow::March march = flow::march_of(arguments, class_of(arguments.problem_class).march, edges);
    const int side = flow::square_side(world.ranks);
    flow::require_room(march.edge, side, side, flow::least_places(arguments.messages));
    const Communicator active = first_ranks(world, side * side);
    Outcome outcome = outcome_of(march, side);
    if (active.has_part()) {
        solve(arguments, march, World::of(active.get()), side, outcome);
    }
    return outcome;
}

}  // namespace

const Kernel kernel{.name = "BT", .settings = flow::march_settings, .run = run};

}  // namespace tare::npb::bt
