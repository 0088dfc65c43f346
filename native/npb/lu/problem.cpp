// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/problem.hpp"

#include <algorithm>
#include <array>

#include "npb/common/timing.hpp"
#include "npb/flow/march.hpp"
#include "npb/lu/norms.hpp"
#include "npb/lu/ssor.hpp"
#include "npb/lu/verify.hpp"

namespace tare::npb::lu {

namespace {

/// The layers exchanged with a neighbour are one message, whose numbers MPI counts in 32 bits.
constexpr flow::Edges edges{.least = 5, .most = 14'000};

Part checked_part(const World& world, int edge, Messages messages) {
    const Part part = part_of(world, edge, messages);
    if (std::min(part.x.count, part.y.count) > sweep::longest_diagonal) {
        throw WrongUse("blocks of this size need more ranks");
    }
    return part;
}

/// NPB's count, a fit for cubes of edge n.
double million_operations(const flow::March& march) {
    constexpr std::array<double, 4> fit{1984.77, -10923.3, 27770.9, -144010.0};
    double horner = 0;
    for (const double coefficient : fit) {
        horner = horner * march.edge + coefficient;
    }
    constexpr double million = 1e6;
    return horner * march.steps / million;
}

/// The steps, and the norms of the residual that is left.
Norms march_through(Ssor& ssor, const Part& part, int steps) {
    for (int step = 1; step < steps; ++step) {
        ssor.step();
    }
    ssor.sweep();
    if (part.messages == Messages::reference) {
        // The reference reduces norms of the last step's change here, which nothing reads.
        static_cast<void>(residual_norms(ssor.lower_solution(), part, ssor.team()));
    }
    ssor.exchange();
    return residual_norms(ssor.residual(), part, ssor.team());
}

/// The field at its start; the reference reduces the norms of its residual too, which nothing reads.
void start(Ssor& ssor, const Part& part) {
    ssor.set_field(initial);
    if (part.messages == Messages::reference) {
        static_cast<void>(residual_norms(ssor.residual(), part, ssor.team()));
    }
}

Outcome run(const Arguments& arguments, const World& world) {
    const flow::March march = flow::march_of(arguments, class_of(arguments.problem_class).march, edges);
    const Part part = checked_part(world, march.edge, arguments.messages);
    Ssor ssor{part, march.time_step, arguments.simd, arguments.threads};
    ssor.set_forcing();
    start(ssor, part);
    ssor.step();  // untimed: memory is touched, connections are made
    start(ssor, part);
    ssor.times().clear();
    Answer answer;
    const double wall_s =
        timed(world.communicator, [&] { answer.residual = march_through(ssor, part, march.steps); });
    answer.error = error_norms(ssor.field(), part, ssor.team());
    answer.surface_integral = surface_integral(ssor.field(), part, ssor.team());
    return {.size = {march.edge, march.edge, march.edge},
            .iterations = march.steps,
            .wall_s = wall_s,
            .million_operations = million_operations(march),
            .active_ranks = world.ranks,
            .checks = checks(arguments, answer),
            .phases = ssor.times().list()};
}

}  // namespace

const Kernel kernel{
    .name = "LU", .settings = flow::march_settings, .run = run, .has_reference_messages = true};

}  // namespace tare::npb::lu
