// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/problem.hpp"

#include <array>
#include <cmath>
#include <string_view>

#include "npb/common/team.hpp"
#include "npb/common/timing.hpp"
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
double final_norm(Multigrid& multigrid, int iterations) {
    static_cast<void>(multigrid.first_residual());
    for (int iteration = 1; iteration < iterations; ++iteration) {
        multigrid.iterate();
    }
    return multigrid.iterate_last();
}

Outcome outcome_of(const Size& size, int active_ranks) {
    return {.size = {size.edge, size.edge, size.edge},
            .iterations = size.iterations,
            .million_operations = million_operations(size),
            .active_ranks = active_ranks,
            .phases = no_times().list()};
}

void solve(const Arguments& arguments, const Size& size, const World& active, Outcome& outcome) {
    Team team{arguments.threads};
    Multigrid multigrid{functions(arguments.simd),
                        class_of(arguments.problem_class).smoother,
                        arguments.messages,
                        size.edge,
                        active,
                        team};
    const auto begin = [&] {
        place_charges(multigrid.right_side(), arguments.messages, active, team);
        multigrid.start_from_zero();
    };
    begin();
    // One V-cycle first, untimed; the timed run begins anew.
    static_cast<void>(final_norm(multigrid, 1));
    begin();
    double norm = 0;
    outcome.wall_s = timed(active.communicator, [&] { norm = final_norm(multigrid, size.iterations); });
    outcome.checks = checks(arguments, norm);
    outcome.phases = multigrid.times().list();
}

Outcome run(const Arguments& arguments, const World& world) {
    const Size size = size_of(arguments);
    const int active_ranks = Multigrid::active_ranks(arguments.messages, size.edge, world);
    const Communicator active = first_ranks(world, active_ranks);
    Outcome outcome = outcome_of(size, active_ranks);
    if (active.has_part()) {
        solve(arguments, size, World::of(active.get()), outcome);
    }
    return outcome;
}

}  // namespace

const Kernel kernel{.name = "MG", .settings = settings, .run = run};

}  // namespace tare::npb::mg
