// SPDX-License-Identifier: Apache-2.0
// What a run of BT and one of SP have in common: all but the solvers.
#pragma once

#include "npb/common/arguments.hpp"
#include "npb/common/outcome.hpp"
#include "npb/common/team.hpp"
#include "npb/common/timing.hpp"
#include "npb/common/world.hpp"
#include "npb/flow/cell_grid.hpp"
#include "npb/flow/march.hpp"
#include "npb/flow/process_grid.hpp"

namespace tare::npb::flow {

/// Goes through all steps, timed; one step before them is not.
template <typename Times, typename Solver>
void march_with(Solver& solver, const Arguments& arguments, const March& march, const Class& published,
                const World& active, Outcome& outcome) {
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
    const Point error = solver.error_norms();
    outcome.checks = checks(arguments, published, solver.residual_norms(), error);
}

/// Runs a kernel on the largest square of the ranks that there are. `Kind` has what a kernel has of its own:
/// `Solver`, in the blocks of a `ProcessGrid`, and `CellSolver`, in the cells of a `CellGrid`, both with
/// `step(Times&)`; `Times`; `edges`; `class_of(name)` and `million_operations(march)`.
template <typename Kind>
Outcome run_on_square(const Arguments& arguments, const World& world) {
    const Class& published = Kind::class_of(arguments.problem_class);
    const March march = march_of(arguments, published.march, Kind::edges);
    const int side = square_side(world.ranks);
    require_room(march.edge, side, side, least_places(arguments.messages));
    Outcome outcome{.size = {march.edge, march.edge, march.edge},
                    .iterations = march.steps,
                    .million_operations = Kind::million_operations(march),
                    .active_ranks = side * side,
                    .phases = typename Kind::Times{}.list()};
    const Communicator part = first_ranks(world, side * side);
    if (!part.has_part()) {
        return outcome;
    }
    const World active = World::of(part.get());
    Team team{arguments.threads};
    const auto march_in = [&](auto solver) {
        march_with<typename Kind::Times>(solver, arguments, march, published, active, outcome);
    };
    // One rank alone sends nothing either way.
    if (arguments.messages == Messages::reference && side > 1) {
        march_in(typename Kind::CellSolver{CellGrid{active, side}, march.edge, march.time_step,
                                           arguments.simd, team});
    } else {
        march_in(typename Kind::Solver{ProcessGrid::of(active, side, side), march.edge, march.time_step,
                                       arguments.simd, team});
    }
    return outcome;
}

}  // namespace tare::npb::flow
