// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "npb/common/timing.hpp"
#include "npb/lu/norms.hpp"
#include "npb/lu/ssor.hpp"
#include "npb/lu/verify.hpp"

namespace tare::npb::lu {

namespace {

constexpr std::array<std::string_view, 3> settings{"edge", "steps", "time_step"};

/// The class's values, or those set instead.
struct Size {
    int edge;
    int steps;
    double time_step;
};

Size size_of(const Arguments& arguments) {
    constexpr int least_edge = 5;
    constexpr int most_edge = 1 << 16;
    constexpr int most_steps = 1'000'000;
    refuse_threads(arguments);
    const Class& of_class = class_of(arguments.problem_class);
    const auto whole = [&](std::string_view name, double value, int least, int most) {
        return static_cast<int>(whole_number(name, arguments.setting(name, value), least, most));
    };
    const Size size{.edge = whole("edge", of_class.edge, least_edge, most_edge),
                    .steps = whole("steps", of_class.steps, 1, most_steps),
                    .time_step = arguments.setting("time_step", of_class.time_step)};
    if (!(size.time_step > 0)) {
        throw WrongUse("time_step is more than 0");
    }
    return size;
}

Part checked_part(const World& world, int edge) {
    const Part part = part_of(world, edge);
    if (std::min(part.x.count, part.y.count) > sweep::longest_diagonal) {
        throw WrongUse("blocks of this size need more ranks");
    }
    return part;
}

/// NPB's count, a fit for cubes of edge n.
double million_operations(const Size& size) {
    constexpr std::array<double, 4> fit{1984.77, -10923.3, 27770.9, -144010.0};
    double horner = 0;
    for (const double coefficient : fit) {
        horner = horner * size.edge + coefficient;
    }
    constexpr double million = 1e6;
    return horner * size.steps / million;
}

Outcome run(const Arguments& arguments, const World& world) {
    const Size size = size_of(arguments);
    const Part part = checked_part(world, size.edge);
    Ssor ssor{part, size.time_step, arguments.simd};
    ssor.set_forcing();
    ssor.set_field(initial);
    ssor.step();  // untimed: memory is touched, connections are made
    ssor.set_field(initial);
    ssor.times().clear();
    Answer answer;
    const double wall_s = timed(world.communicator, [&] {
        for (int step = 0; step < size.steps; ++step) {
            ssor.step();
        }
        answer.residual = residual_norms(ssor.residual(), part);
    });
    answer.error = error_norms(ssor.field(), part);
    answer.surface_integral = surface_integral(ssor.field(), part);
    return {.size = {size.edge, size.edge, size.edge},
            .iterations = size.steps,
            .wall_s = wall_s,
            .million_operations = million_operations(size),
            .active_ranks = world.ranks,
            .checks = checks(arguments, answer),
            .phases = ssor.times().list()};
}

}  // namespace

const Kernel kernel{.name = "LU", .settings = settings, .run = run};

}  // namespace tare::npb::lu
