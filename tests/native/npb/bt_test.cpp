// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "flow_textbook.hpp"
#include "npb/bt/classes.hpp"
#include "npb/bt/lines.hpp"
#include "npb/bt/problem.hpp"
#include "npb/bt/solver.hpp"
#include "npb/common/buffer.hpp"
#include "npb/common/random.hpp"
#include "npb/flow/exact.hpp"
#include "npb/flow/field.hpp"
#include "npb/flow/march.hpp"

using tare::npb::Arguments;
using tare::npb::Buffer;
using tare::npb::ProblemClass;
using tare::npb::runnable;
using tare::npb::Simd;
using tare::npb::bt::Bundle;
using tare::npb::bt::kept;
using tare::npb::flow::Block;
using tare::npb::flow::components;
using tare::npb::flow::Extent;
using tare::npb::flow::Field;
using tare::npb::flow::Point;
using tare::npb::textbook::sum;

namespace {

constexpr int edge = 12;
constexpr double time_step = 0.01;
const Block whole{Extent::part(edge, 1, 0), Extent::part(edge, 1, 0), Extent::part(edge, 1, 0)};

const tare::npb::World alone{.communicator = MPI_COMM_SELF, .rank = 0, .ranks = 1};

Field initial() {
    Field found{whole, Field::Border::ghosts};
    tare::npb::Team team{1};
    tare::npb::flow::set_initial(found, team);
    return found;
}

/// Random inside the boundary.
Field random_right() {
    Field found{whole, Field::Border::none};
    tare::npb::Random random{314159265};
    for (int z = 1; z < edge - 1; ++z) {
        for (int y = 1; y < edge - 1; ++y) {
            for (int x = 1; x < edge - 1; ++x) {
                Point point{};
                std::ranges::generate(point, [&] { return random.next() - 0.5; });
                found.set_point(z, y, x, point);
            }
        }
    }
    return found;
}

/// The flux along an axis, times time step / (2 step).
Point convected(std::size_t axis, const Point& u) {
    return sum(time_step * (edge - 1) / 2, tare::npb::textbook::flux(axis, u), {});
}

/// What viscosity and dissipation spread along an axis, times time step / step^2.
Point spread(std::size_t axis, const Point& u) {
    return sum(time_step * (edge - 1) * (edge - 1), tare::npb::textbook::spread(axis, u), {});
}

/// The derivative of a function of a point in a direction.
template <typename Function>
Point derivative(Function&& function, std::size_t axis, const Point& u, const Point& direction) {
    constexpr double small = 1e-5;
    return sum(-1 / (2 * small), function(axis, sum(-small, direction, u)),
               sum(1 / (2 * small), function(axis, sum(small, direction, u)), {}));
}

/// What solving left of an equation, at a point of lines along an axis: identity - time step * (the
/// derivative of the differences of fluxes), applied to the solution, less the right-hand side.
Point left_over(std::size_t axis, const Field& u, const Field& solution, const Field& right,
                const std::array<int, 3>& zyx) {
    const auto& [z, y, x] = zyx;
    const auto at = [&](const Field& field, int distance) {
        return field.point(z + (axis == 2 ? distance : 0), y + (axis == 1 ? distance : 0),
                           x + (axis == 0 ? distance : 0));
    };
    Point found = sum(-1, right.point(z, y, x), at(solution, 0));
    found = sum(1, derivative(convected, axis, at(u, 1), at(solution, 1)), found);
    found = sum(-1, derivative(convected, axis, at(u, -1), at(solution, -1)), found);
    found = sum(-1, derivative(spread, axis, at(u, 1), at(solution, 1)), found);
    found = sum(2, derivative(spread, axis, at(u, 0), at(solution, 0)), found);
    return sum(-1, derivative(spread, axis, at(u, -1), at(solution, -1)), found);
}

double largest_left_over(std::size_t axis, const Field& u, const Field& solution, const Field& right) {
    double found = 0;
    for (int z = 1; z < edge - 1; ++z) {
        for (int y = 1; y < edge - 1; ++y) {
            for (int x = 1; x < edge - 1; ++x) {
                for (const double value : left_over(axis, u, solution, right, {z, y, x})) {
                    found = std::max(found, std::abs(value));
                }
            }
        }
    }
    return found;
}

/// Lines along y, or along z, of which only some places are this part's.
Bundle lines(std::size_t axis, Field& u, Field& right, int at, int x, const Extent& extent,
             Buffer<double>& room) {
    const auto from = u.view();
    const auto to = right.view();
    const int first = extent.first;
    return {.u = (axis == 1 ? from.at(at, first) : from.at(first, at)) + x,
            .right = (axis == 1 ? to.at(at, first) : to.at(first, at)) + x,
            .component = from.component,
            .u_step = axis == 1 ? from.row : from.plane,
            .right_step = axis == 1 ? to.row : to.plane,
            .extent = extent,
            .time_step = time_step,
            .kept = room.data()};
}

/// Solves along y or z, with each line cut into parts that hand on their states as ranks do.
void solve(std::size_t axis, Field& u, Field& right, int parts, Simd simd) {
    const auto functions = tare::npb::bt::functions(simd);
    const auto lanes = static_cast<std::size_t>(functions.lanes);
    for (int at = 1; at < edge - 1; ++at) {
        for (int x = 0; x < edge; x += functions.lanes) {
            std::vector<Buffer<double>> rooms;
            std::vector<Bundle> bundles;
            Buffer<double> forward{kept * lanes};
            Buffer<double> backward{components * lanes};
            for (int part = 0; part < parts; ++part) {
                rooms.emplace_back(kept * lanes * edge);
                bundles.push_back(
                    lines(axis, u, right, at, x, Extent::part(edge, parts, part), rooms.back()));
                (axis == 1 ? functions.eliminate_y : functions.eliminate_z)(bundles.back(), forward.data());
            }
            std::ranges::reverse(bundles);
            for (const Bundle& bundle : bundles) {
                functions.substitute(bundle, backward.data());
            }
        }
    }
}

}  // namespace

TEST_CASE("the solution along x satisfies the equations, with derivatives by differences") {
    Field u = initial();
    const Field right = random_right();
    for (const Simd simd : runnable()) {
        Field solution = random_right();
        Buffer<double> scratch{tare::npb::bt::x_scratch(edge)};
        for (int z = 1; z < edge - 1; ++z) {
            tare::npb::bt::functions(simd).solve_x(whole, time_step, u.view(), solution.view(),
                                                   {.z = z, .y_begin = 1, .y_end = edge - 1}, scratch.data());
        }
        CHECK(largest_left_over(0, u, solution, right) < 1e-6);
    }
}

TEST_CASE("the solutions along y and z satisfy the equations, on lines in one piece and in three") {
    Field u = initial();
    const Field right = random_right();
    for (const Simd simd : runnable()) {
        for (const std::size_t axis : {1U, 2U}) {
            for (const int parts : {1, 3}) {
                Field solution = random_right();
                solve(axis, u, solution, parts, simd);
                CHECK(largest_left_over(axis, u, solution, right) < 1e-6);
            }
        }
    }
}

TEST_CASE("the exact solution has no residual with its forcing, and steps leave it as it is") {
    for (const Simd simd : runnable()) {
        tare::npb::Team team{2};
        tare::npb::bt::Solver solver{tare::npb::flow::ProcessGrid::of(alone, 1, 1), edge, time_step, simd,
                                     team};
        solver.start(tare::npb::flow::set_exact);
        CHECK(std::ranges::max(solver.residual_norms()) < 1e-11);
        CHECK(std::ranges::max(solver.error_norms()) == 0);
        tare::npb::bt::Times times;
        for (int step = 0; step < 3; ++step) {
            solver.step(times);
        }
        CHECK(std::ranges::max(solver.error_norms()) < 1e-13);
        solver.start();
        CHECK(std::ranges::max(solver.residual_norms()) > 1);
    }
}

TEST_CASE("class S is right with all vectors, and wrong after one step more") {
    const tare::npb::flow::Class& of_class = tare::npb::bt::classes.front();
    for (const Simd simd : runnable()) {
        tare::npb::Team team{1};
        tare::npb::bt::Solver solver{tare::npb::flow::ProcessGrid::of(alone, 1, 1), of_class.march.edge,
                                     of_class.march.time_step, simd, team};
        tare::npb::bt::Times times;
        for (int step = 0; step < of_class.march.steps; ++step) {
            solver.step(times);
        }
        const auto verdict = [&] {
            const Point error = solver.error_norms();
            return tare::npb::verdict(
                tare::npb::flow::checks(Arguments{}, of_class, solver.residual_norms(), error));
        };
        CHECK(verdict() == tare::npb::Verification::successful);
        solver.step(times);
        CHECK(verdict() == tare::npb::Verification::unsuccessful);
    }
}

TEST_CASE("a problem of the user's own has no published answer") {
    Arguments arguments;
    arguments.settings["steps"] = 3;
    CHECK(tare::npb::verdict(tare::npb::flow::checks(arguments, {}, {}, {})) ==
          tare::npb::Verification::not_performed);
}

TEST_CASE("the count of operations of a run is NPB's, of the whole grid and each step") {
    Arguments arguments;
    arguments.settings = {{"edge", 12}, {"steps", 2}};
    const auto outcome = tare::npb::bt::kernel.run(arguments, alone);
    CHECK(outcome.million_operations == doctest::Approx(2 * 3.80523).epsilon(1e-5));
    CHECK(outcome.iterations == 2);
}

TEST_CASE("of five ranks the last has no part, and says that four have; fifty are too many for class S") {
    const auto outcome =
        tare::npb::bt::kernel.run({}, {.communicator = MPI_COMM_SELF, .rank = 4, .ranks = 5});
    CHECK(outcome.active_ranks == 4);
    CHECK(outcome.wall_s == 0);
    CHECK(outcome.checks.empty());
    CHECK(outcome.phases.size() == tare::npb::bt::parts);
    CHECK_THROWS_AS(tare::npb::bt::kernel.run({}, {.communicator = MPI_COMM_SELF, .rank = 49, .ranks = 50}),
                    tare::npb::WrongUse);
}
