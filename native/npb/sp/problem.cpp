// SPDX-License-Identifier: Apache-2.0
#include "npb/sp/problem.hpp"

#include "npb/common/timing.hpp"
#include "npb/flow/border.hpp"
#include "npb/flow/march.hpp"
#include "npb/sp/cell_solver.hpp"
#include "npb/sp/solver.hpp"
#include "npb/sp/verify.hpp"

namespace tare::npb::sp {

namespace {

constexpr flow::Edges edges{.least = 6, .most = flow::most_edge};

enum class Part { borders, planes, z };
using Parts = Phases<Part, 3>;

Parts no_times() { return Parts{{"borders", "planes", "z"}}; }

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

/// `Any` is Solver or CellSolver.
template <typename Any>
void step(Any& solver, Parts& parts) {
    parts.time(Part::borders, [&] { solver.fetch_borders(); });
    parts.time(Part::planes, [&] { solver.sweep_planes(); });
    parts.time(Part::z, [&] { solver.sweep_z(); });
}

/// One step is not timed; then the field is set anew.
template <typename Any>
double advance(Any& solver, const flow::March& march, Parts& parts, MPI_Comm communicator) {
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

template <typename Any>
void march_with(Any& solver, const Arguments& arguments, const flow::March& march, const World& active,
                Outcome& outcome) {
    Parts parts = no_times();
    outcome.wall_s = advance(solver, march, parts, active.communicator);
    outcome.checks = checks(arguments, solver.residual_norms(), solver.error_norms());
    outcome.phases = parts.list();
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
    Outcome outcome{.size = {march.edge, march.edge, march.edge},
                    .iterations = march.steps,
                    .million_operations = million_operations(march),
                    .active_ranks = side * side,
                    .phases = no_times().list()};
    const Communicator active = first_ranks(world, side * side);
    if (active.has_part()) {
        solve(arguments, march, World::of(active.get()), side, outcome);
    }
    return outcome;
}

}  // namespace

const Kernel kernel{.name = "SP", .settings = flow::march_settings, .run = run};

}  // namespace tare::npb::sp
