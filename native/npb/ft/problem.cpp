// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/problem.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <string_view>

#include "npb/common/random.hpp"
#include "npb/ft/checksum.hpp"
#include "npb/ft/fft3d.hpp"

namespace tare::npb::ft {

namespace {

constexpr std::array<std::string_view, 4> settings{"nx", "ny", "nz", "iterations"};
constexpr std::uint64_t seed = 314159265;

struct Problem {
    Edges edges;
    int iterations = 0;
};

int edge_of(const Arguments& arguments, std::string_view name, int of_class, int least) {
    const int edge = arguments.setting(name, of_class);
    if (edge < least || edge > longest_line || !std::has_single_bit(static_cast<unsigned>(edge))) {
        throw WrongUse(std::string{name} + " is a power of two from " + std::to_string(least) + " to " +
                       std::to_string(longest_line));
    }
    return edge;
}

Problem problem_of(const Arguments& arguments) {
    const Class& chosen = class_of(arguments.problem_class);
    const Problem problem{
        .edges = {.x = edge_of(arguments, "nx", chosen.edges.x, shortest_row),
                  .y = edge_of(arguments, "ny", chosen.edges.y, shortest_column),
                  .z = edge_of(arguments, "nz", chosen.edges.z, shortest_line)},
        .iterations = arguments.setting("iterations", static_cast<int>(chosen.checksums.size()))};
    constexpr int most_iterations = 1'000'000;
    if (problem.iterations < 1 || problem.iterations > most_iterations) {
        throw WrongUse("iterations is 1 to 1000000");
    }
    return problem;
}

/// By NPB's count, which does not depend on how the transforms are done.
double million_operations(const Problem& problem) {
    const double points = problem.edges.points();
    const double depth = std::log(points);
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-magic-numbers,readability-magic-numbers): the formula is NPB's.
    return 1e-6 * points * (14.8157 + 7.19641 * depth + (5.23518 + 7.21113 * depth) * problem.iterations);
}

/// One sequence of random numbers, x fastest, then y, then z.
FieldSource random_field(const Edges& edges, Simd simd) {
    return [fill = functions(simd).fill, edges](int z, int y, double* to) {
        const auto row = static_cast<std::uint64_t>(z) * static_cast<std::uint64_t>(edges.y) +
                         static_cast<std::uint64_t>(y);
        Random random{seed};
        random.jump(2 * static_cast<std::uint64_t>(edges.x) * row);
        fill(random.state(), edges.x, to);
    };
}

std::complex<double> sum_of_ranks(std::complex<double> here, const World& world) {
    std::complex<double> sum;
    MPI_Reduce(&here, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, 0, world.communicator);
    return sum;
}

/// The whole problem: the checksum of each iteration, in rank 0.
std::vector<std::complex<double>> solve(Fft3d& fft, const Problem& problem, const World& world, Simd simd,
                                        Team& team, PartTimes& times) {
    times.time(Part::tables, [&] { fft.make_tables(); });
    fft.transform_forward(random_field(problem.edges, simd));
    Checksum checksum{fft, problem.edges};
    std::vector<std::complex<double>> sums;
    for (int iteration = 1; iteration <= problem.iterations; ++iteration) {
        const Evolution evolution = times.time(Part::tables, [&] {
            return Evolution{problem.edges, iteration};
        });
        fft.transform_inverse(evolution);
        times.time(Part::checksum, [&] { sums.push_back(sum_of_ranks(checksum.here(team), world)); });
    }
    return sums;
}

/// Like NPB an untimed run before the timed one touches all memory. With the reference's messages it ends
/// after the forward transform.
void warm_up(Fft3d& fft, const Problem& problem, const World& world, const Arguments& arguments, Team& team,
             PartTimes& times) {
    const int iterations = arguments.messages == Messages::own ? 1 : 0;
    static_cast<void>(
        solve(fft, {.edges = problem.edges, .iterations = iterations}, world, arguments.simd, team, times));
    times.clear();
}

Outcome run(const Arguments& arguments, const World& world) {
    const Problem problem = problem_of(arguments);
    PartTimes times{{"tables", "xy", "yz", "transpose", "checksum"}};
    Team team{arguments.threads};
    Fft3d fft{Decomposition::of(problem.edges, world, arguments.messages),
              world,
              arguments.messages,
              arguments.simd,
              team,
              times};
    warm_up(fft, problem, world, arguments, team, times);
    std::vector<Check> verified;
    const double wall_s = timed(world.communicator, [&] {
        verified = checks(arguments, solve(fft, problem, world, arguments.simd, team, times));
    });
    return {.size = {problem.edges.x, problem.edges.y, problem.edges.z},
            .iterations = problem.iterations,
            .wall_s = wall_s,
            .million_operations = million_operations(problem),
            .active_ranks = world.ranks,
            .checks = verified,
            .phases = times.list()};
}

}  // namespace

const Kernel kernel{.name = "FT", .settings = settings, .run = run};

}  // namespace tare::npb::ft
