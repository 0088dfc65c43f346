// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/problem.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "npb/common/team.hpp"
#include "npb/common/timing.hpp"
#include "npb/mg/block_multigrid.hpp"
#include "npb/mg/charges.hpp"
#include "npb/mg/multigrid.hpp"
#include "npb/mg/verify.hpp"

namespace tare::npb::mg {

namespace {

constexpr std::array<std::string_view, 2> settings{"edge", "iterations"};

struct Size {
    int edge;
    int iterations;
};

Size size_of(const Arguments& arguments) {
    constexpr int least = 16;
    constexpr int most = 2048;
    const Class& known = class_of(arguments.problem_class);
    const Size size{.edge = arguments.setting("edge", known.edge),
                    .iterations = arguments.setting("iterations", known.iterations)};
    if (size.edge < least || size.edge > most || (size.edge & (size.edge - 1)) != 0) {
        throw WrongUse("edge is a power of two, 16 to 2048");
    }
    if (size.iterations < 1) {
        throw WrongUse("iterations is at least 1");
    }
    return size;
}

double million_operations(const Size& size) {
    constexpr double million_operations_of_a_point = 58e-6;
    return million_operations_of_a_point * size.iterations * std::pow(size.edge, 3);
}

/// The norm of the residual after all V-cycles.
template <typename Cycles>
double final_norm(Cycles& cycles, int iterations) {
    static_cast<void>(cycles.first_residual());
    for (int iteration = 1; iteration < iterations; ++iteration) {
        cycles.iterate();
    }
    return cycles.iterate_last();
}

Outcome outcome(const Size& size, int active_ranks) {
    return {.size = {size.edge, size.edge, size.edge},
            .iterations = size.iterations,
            .million_operations = million_operations(size),
            .active_ranks = active_ranks,
            .phases = no_times().list()};
}

/// `begin` makes the right side and starts the cycles from zero.
template <typename Cycles, typename Begin>
void solve(const Arguments& arguments, const World& active, Cycles& cycles, const Begin& begin,
           Outcome& outcome) {
    begin();
    // One V-cycle first, untimed; the timed run begins anew.
    static_cast<void>(final_norm(cycles, 1));
    begin();
    double norm = 0;
    outcome.wall_s = timed(active.communicator, [&] { norm = final_norm(cycles, outcome.iterations); });
    outcome.checks = checks(arguments, norm);
    outcome.phases = cycles.times().list();
}

void solve_by_planes(const Arguments& arguments, const Layout& layout, const World& active,
                     Outcome& outcome) {
    Team team{arguments.threads};
    Multigrid multigrid{functions(arguments.simd), class_of(arguments.problem_class).smoother, layout, active,
                        team};
    const auto begin = [&] {
        place_charges(multigrid.right_side(), layout.planes(layout.finest_edge(), active.rank), active, team);
        multigrid.start_from_zero();
    };
    solve(arguments, active, multigrid, begin, outcome);
}

void solve_by_blocks(const Arguments& arguments, int edge, const World& active, Outcome& outcome) {
    Team team{arguments.threads};
    BlockMultigrid multigrid{functions(arguments.simd), class_of(arguments.problem_class).smoother, edge,
                             active, team};
    const auto begin = [&] {
        place_charges(multigrid.right_side(), active, team);
        multigrid.start_from_zero();
    };
    solve(arguments, active, multigrid, begin, outcome);
}

/// Runs `work(active)` in the ranks that take part.
template <typename Work>
Outcome run_in(const World& world, int active_ranks, const Size& size, const Work& work) {
    const Communicator active = first_ranks(world, active_ranks);
    Outcome result = outcome(size, active_ranks);
    if (active.has_part()) {
        work(World::of(active.get()), result);
    }
    return result;
}

Outcome run(const Arguments& arguments, const World& world) {
    const Size size = size_of(arguments);
    if (arguments.messages == Messages::reference) {
        return run_in(world, Cut::ranks_of(size.edge, world.ranks), size,
                      [&](const World& active, Outcome& result) {
                          solve_by_blocks(arguments, size.edge, active, result);
                      });
    }
    const Layout layout{size.edge, world};
    return run_in(world, layout.active_ranks(), size, [&](const World& active, Outcome& result) {
        solve_by_planes(arguments, layout, active, result);
    });
}

}  // namespace

const Kernel kernel{.name = "MG", .settings = settings, .run = run};

}  // namespace tare::npb::mg
