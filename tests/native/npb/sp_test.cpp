// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "npb/common/outcome.hpp"
#include "npb/common/random.hpp"
#include "npb/flow/exact.hpp"
#include "npb/flow/process_grid.hpp"
#include "npb/sp/eigenvectors.hpp"
#include "npb/sp/elimination.hpp"
#include "npb/sp/problem.hpp"
#include "npb/sp/solver.hpp"

using tare::npb::Random;
using tare::npb::runnable;
using tare::npb::Simd;
using tare::npb::Team;
using tare::npb::Verification;
using tare::npb::World;
using tare::npb::flow::Field;
using tare::npb::flow::Point;
using tare::npb::flow::ProcessGrid;
using tare::npb::sp::Five;
using tare::npb::sp::Fluid;
using tare::npb::sp::Link;
using tare::npb::sp::Row;
using tare::npb::sp::Solver;
using tare::npb::sp::waves;

// The functions under test take plain arrays.
// NOLINTBEGIN(*-avoid-c-arrays,cppcoreguidelines-pro-bounds-*)
namespace {

constexpr double time_step = 0.01;

// ---- elimination

/// A line's links and right-hand sides, any numbers that keep the matrix dominated by its diagonal.
struct Line {
    std::vector<Link<double>> links;
    std::vector<std::array<double, waves>> right;

    explicit Line(std::size_t length) {
        Random random{314159265};
        for (std::size_t place = 0; place < length; ++place) {
            links.push_back({random.next(), random.next(), random.next()});
            right.push_back({random.next(), random.next(), random.next(), random.next(), random.next()});
        }
    }
};

/// The fourth difference's weights, as large as its time step makes them.
std::vector<tare::npb::flow::FourthDifference> weights(std::size_t length) {
    std::vector<tare::npb::flow::FourthDifference> found;
    for (std::size_t place = 0; place < length; ++place) {
        found.push_back(
            tare::npb::flow::fourth_difference(static_cast<int>(place), static_cast<int>(length)));
    }
    return found;
}

using Solution = std::vector<std::array<double, waves>>;

Solution solve(const Line& line) {
    const std::size_t length = line.links.size();
    const auto weight = weights(length);
    std::vector<Row<double>> rows(length + 1);
    for (std::size_t place = 1; place + 1 < length; ++place) {
        std::ranges::copy(line.right[place], std::begin(rows[place].value));
        const Row<double> nothing{};
        tare::npb::sp::eliminate(place > 1 ? rows[place - 2] : nothing, rows[place - 1],
                                 line.links[place - 1], line.links[place], line.links[place + 1],
                                 std::begin(weight[place].weight), rows[place]);
    }
    double next[waves]{};
    double after_next[waves]{};
    Solution solution(length);
    for (std::size_t place = length - 2; place > 0; --place) {
        double here[waves];
        tare::npb::sp::substitute(rows[place], next, after_next, here);
        std::ranges::copy(next, std::begin(after_next));
        std::ranges::copy(here, std::begin(next));
        std::ranges::copy(here, solution[place].begin());
    }
    return solution;
}

/// A row of the matrix of one wave, at places -2 to 2 from the diagonal.
std::array<double, 5> matrix_row(const Line& line, std::size_t place, int wave) {
    const double sign = wave == 3 ? 1 : (wave == 4 ? -1 : 0);
    const auto weight = weights(line.links.size())[place];
    const Link<double>& before = line.links[place - 1];
    const Link<double>& after = line.links[place + 1];
    std::array<double, 5> row{};
    std::ranges::copy(weight.weight, row.begin());
    row[1] += -before.convection - sign * before.sound - before.spread;
    row[2] += 1 + 2 * line.links[place].spread;
    row[3] += after.convection + sign * after.sound - after.spread;
    return row;
}

double value_at(const Solution& solution, std::ptrdiff_t place, int wave) {
    return place < 0 || place >= std::ssize(solution)
               ? 0
               : solution[static_cast<std::size_t>(place)][static_cast<std::size_t>(wave)];
}

// ---- waves

Fluid<double> fluid_of(const Point& here) {
    const auto& [mass, along_x, along_y, along_z, energy] = here;
    const double kinetic = 0.5 * (along_x * along_x + along_y * along_y + along_z * along_z) / (mass * mass);
    return {.density = mass,
            .velocity_x = along_x / mass,
            .velocity_y = along_y / mass,
            .velocity_z = along_z / mass,
            .kinetic = kinetic,
            .sound = std::sqrt(1.4 * 0.4 * (energy / mass - kinetic))};
}

/// What flows along an axis, of the inviscid equations.
Point flux(const Point& here, std::size_t axis) {
    const Fluid<double> fluid = fluid_of(here);
    const double velocity = here[1 + axis] / here[0];
    const double pressure = 0.4 * (here[4] - here[0] * fluid.kinetic);
    Point found{};
    for (std::size_t component = 0; component < found.size(); ++component) {
        found[component] = velocity * here[component];
    }
    found[1 + axis] += pressure;
    found[4] += velocity * pressure;
    return found;
}

/// The flux's derivative in a direction.
Five<double> flux_change(const Point& here, const Five<double>& direction, std::size_t axis) {
    constexpr double step = 1e-5;
    Point more = here;
    Point less = here;
    for (std::size_t component = 0; component < here.size(); ++component) {
        more[component] += step * direction.at[component];
        less[component] -= step * direction.at[component];
    }
    Five<double> found{};
    for (std::size_t component = 0; component < here.size(); ++component) {
        found.at[component] = (flux(more, axis)[component] - flux(less, axis)[component]) / (2 * step);
    }
    return found;
}

constexpr Point some_point{1.7, 0.6, -0.9, 1.1, 4.2};
constexpr Five<double> some_direction{{0.3, -1.2, 0.7, 0.4, 2.1}};

Five<double> waves_x(const Five<double>& field) {
    const auto fluid = fluid_of(some_point);
    return tare::npb::sp::to_waves_x(fluid, 1 / fluid.density, 1 / (fluid.sound * fluid.sound), field);
}

/// Waves along an axis, by the transformations of the axes before it.
Five<double> waves_along(std::size_t axis, const Five<double>& field) {
    Five<double> found = waves_x(field);
    if (axis > 0) {
        found = tare::npb::sp::x_to_y(found);
    }
    return axis > 1 ? tare::npb::sp::y_to_z(found) : found;
}

double largest_difference(const Field& one, const Field& other) {
    const int edge = one.block().x.edge;
    double found = 0;
    for (int z = 0; z < edge; ++z) {
        for (int y = 0; y < edge; ++y) {
            for (int x = 0; x < edge; ++x) {
                const Point here = one.point(z, y, x);
                const Point there = other.point(z, y, x);
                for (std::size_t component = 0; component < here.size(); ++component) {
                    found = std::max(found, std::abs(here[component] - there[component]));
                }
            }
        }
    }
    return found;
}

// ---- solver

tare::npb::Arguments arguments(Simd simd, int threads, std::map<std::string, double, std::less<>> settings) {
    tare::npb::Arguments found;
    found.simd = simd;
    found.threads = threads;
    found.settings = std::move(settings);
    return found;
}

Solver solver(int edge, Simd simd, Team& team) {
    return {ProcessGrid::of(World{.communicator = MPI_COMM_SELF}, 1, 1), edge, time_step, simd, team};
}

void step(Solver& one) {
    tare::npb::sp::Times times;
    one.step(times);
}

}  // namespace

TEST_CASE("elimination and substitution invert the pentadiagonal matrix of every wave") {
    for (const std::size_t length : {5U, 6U, 7U, 20U}) {
        const Line line{length};
        const Solution solution = solve(line);
        for (std::size_t place = 1; place + 1 < length; ++place) {
            for (int wave = 0; wave < waves; ++wave) {
                const auto row = matrix_row(line, place, wave);
                double product = 0;
                for (std::size_t column = 0; column < row.size(); ++column) {
                    product += row[column] *
                               value_at(solution, static_cast<std::ptrdiff_t>(place + column) - 2, wave);
                }
                CHECK(product == doctest::Approx(line.right[place][static_cast<std::size_t>(wave)]));
            }
        }
    }
}

TEST_CASE("to waves along x, on to y, on to z, and back to the field: nothing has changed") {
    const auto fluid = fluid_of(some_point);
    const Five<double> back =
        tare::npb::sp::from_waves_z(fluid, 1 / fluid.sound, waves_along(2, some_direction));
    for (std::size_t component = 0; component < waves; ++component) {
        CHECK(back.at[component] == doctest::Approx(some_direction.at[component]));
    }
}

TEST_CASE("waves travel with the fluid, and faster and slower by the speed of sound") {
    const auto fluid = fluid_of(some_point);
    const std::array<double, 3> velocity{fluid.velocity_x, fluid.velocity_y, fluid.velocity_z};
    for (std::size_t axis = 0; axis < velocity.size(); ++axis) {
        const Five<double> waves_here = waves_along(axis, some_direction);
        const Five<double> carried = waves_along(axis, flux_change(some_point, some_direction, axis));
        const std::array<double, waves> speeds{velocity[axis], velocity[axis], velocity[axis],
                                               velocity[axis] + fluid.sound, velocity[axis] - fluid.sound};
        for (std::size_t wave = 0; wave < waves; ++wave) {
            CHECK(carried.at[wave] == doctest::Approx(speeds[wave] * waves_here.at[wave]).epsilon(1e-6));
        }
    }
}

TEST_CASE("a step gives the same field in every vector width, for any length of rows") {
    for (const int edge : {6, 8, 9, 15}) {
        Team team{1};
        Solver plain = solver(edge, Simd::plain, team);
        step(plain);
        for (const Simd simd : runnable()) {
            Solver other = solver(edge, simd, team);
            step(other);
            CHECK(largest_difference(other.field(), plain.field()) < 1e-12);
        }
    }
}

TEST_CASE("the exact solution has no residual with its forcing, and steps leave it as it is") {
    constexpr int edge = 12;
    for (const Simd simd : runnable()) {
        Team team{2};
        Solver one = solver(edge, simd, team);
        CHECK(std::ranges::max(one.residual_norms()) > 1);
        one.start(tare::npb::flow::set_exact);
        CHECK(std::ranges::max(one.residual_norms()) < 1e-11);
        CHECK(std::ranges::max(one.error_norms()) == 0);
        for (int count = 0; count < 3; ++count) {
            step(one);
        }
        CHECK(std::ranges::max(one.error_norms()) < 1e-13);
    }
}

TEST_CASE("steps keep the boundary and bring the field nearer to the exact solution") {
    constexpr int edge = 10;
    Team team{1};
    Solver one = solver(edge, Simd::plain, team);
    const Point start = one.error_norms();
    const Point corner = one.field().point(0, 3, 4);
    for (int count = 0; count < 20; ++count) {
        step(one);
    }
    const Point later = one.error_norms();
    for (std::size_t component = 0; component < later.size(); ++component) {
        CHECK(later[component] < 0.5 * start[component]);
    }
    CHECK(one.field().point(0, 3, 4) == corner);
}

TEST_CASE("SP verifies class S in every vector width; a changed problem has no published answer") {
    const World world = World::of(MPI_COMM_WORLD);
    for (const Simd simd : runnable()) {
        const auto outcome = tare::npb::sp::kernel.run(arguments(simd, 1, {}), world);
        CHECK(tare::npb::verdict(outcome.checks) == Verification::successful);
        CHECK(outcome.active_ranks == 1);
    }
    const auto changed = tare::npb::sp::kernel.run(arguments(Simd::plain, 1, {{"steps", 2}}), world);
    CHECK(tare::npb::verdict(changed.checks) == Verification::not_performed);
}

TEST_CASE("SP takes grids of 6 to 20 000 points along each edge, and says so") {
    const World world = World::of(MPI_COMM_WORLD);
    for (const int edge : {5, 20'001}) {
        const auto wrong = arguments(Simd::plain, 1, {{"edge", edge}});
        CHECK_THROWS_WITH_AS(tare::npb::sp::kernel.run(wrong, world),
                             "edge is a whole number from 6 to 20000", tare::npb::WrongUse);
    }
}

TEST_CASE("the count of operations of an SP run is NPB's, of the whole grid and each step") {
    const World world = World::of(MPI_COMM_WORLD);
    const auto outcome =
        tare::npb::sp::kernel.run(arguments(Simd::plain, 1, {{"edge", 12}, {"steps", 2}}), world);
    CHECK(outcome.million_operations == doctest::Approx(2 * 0.966727232).epsilon(1e-8));
    CHECK(outcome.iterations == 2);
}

TEST_CASE("of five SP ranks the last has no part, and says that four have; fifty are too many for class S") {
    const auto outcome = tare::npb::sp::kernel.run(arguments(Simd::plain, 1, {}),
                                                   {.communicator = MPI_COMM_SELF, .rank = 4, .ranks = 5});
    CHECK(outcome.active_ranks == 4);
    CHECK(outcome.wall_s == 0);
    CHECK(outcome.checks.empty());
    CHECK_THROWS_AS(tare::npb::sp::kernel.run(arguments(Simd::plain, 1, {}),
                                              {.communicator = MPI_COMM_SELF, .rank = 49, .ranks = 50}),
                    tare::npb::WrongUse);
}
// NOLINTEND(*-avoid-c-arrays,cppcoreguidelines-pro-bounds-*)
