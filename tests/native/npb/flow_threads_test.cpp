// SPDX-License-Identifier: Apache-2.0
// What the threads of a rank share out, and what the ranks of a run do together with them; mpirun starts the
// latter with more ranks.
#include <doctest/doctest.h>
#include <mpi.h>

#include <cmath>
#include <vector>

#include "npb/bt/solver.hpp"
#include "npb/flow/exact.hpp"
#include "npb/flow/forcing.hpp"
#include "npb/flow/groups.hpp"
#include "npb/sp/solver.hpp"

using namespace tare::npb;

namespace {

constexpr double time_step = 0.002;
constexpr int steps = 2;

flow::Block cube(int edge) {
    const flow::Extent whole = flow::Extent::part(edge, 1, 0);
    return {whole, whole, whole};
}

/// Everything in a field's block, in order.
std::vector<double> values(const flow::Field& field) {
    const auto& [x, y, z] = field.block();
    std::vector<double> found;
    for (int k = 0; k < z.count; ++k) {
        for (int j = 0; j < y.count; ++j) {
            for (int i = 0; i < x.count; ++i) {
                const flow::Point point = field.point(k, j, i);
                found.insert(found.end(), point.begin(), point.end());
            }
        }
    }
    return found;
}

void step(bt::Solver& solver) {
    bt::Times times;
    solver.step(times);
}

void step(sp::Solver& solver) {
    sp::Times times;
    solver.step(times);
}

/// The field after some steps of BT or SP.
template <typename Solver>
std::vector<double> advanced(const flow::ProcessGrid& grid, int edge, int threads) {
    Team team{threads};
    Solver solver{grid, edge, time_step, runnable().back(), team};
    for (int count = 0; count < steps; ++count) {
        step(solver);
    }
    return values(solver.field());
}

const World alone{.communicator = MPI_COMM_SELF, .rank = 0, .ranks = 1};

template <typename Solver>
void check_threads(const flow::ProcessGrid& grid, int edge) {
    const auto one = advanced<Solver>(grid, edge, 1);
    REQUIRE(std::isfinite(one.at(one.size() / 2)));
    for (const int threads : {2, 3, 7}) {
        CHECK(advanced<Solver>(grid, edge, threads) == one);
    }
}

}  // namespace

TEST_CASE("fields, forcing and right-hand side do not depend on the number of threads") {
    const flow::Block block = cube(13);
    const auto found = [&](int threads) {
        Team team{threads};
        flow::Field field{block, flow::Field::Border::ghosts};
        flow::set_initial(field, team);
        const flow::Field forcing = flow::forcing(block, Simd::plain, team);
        flow::Field result{block, flow::Field::Border::none};
        flow::RightHandSide{flow::functions(Simd::plain), 1, field, forcing, result}.set(team);
        return values(result);
    };
    const auto one = found(1);
    for (const int threads : {2, 3, 20}) {
        CHECK(found(threads) == one);
    }
}

TEST_CASE("groups cover the rows inside the boundary, each once") {
    for (const int edge : {5, 9, 10, 11, 18, 30}) {
        const flow::Extent y = flow::Extent::part(edge, 1, 0);
        int next = y.begin();
        for (int group = 0; group < flow::groups_of(y); ++group) {
            const flow::Rows rows = flow::rows_of(y, 3, {.first = group, .count = 1});
            CHECK(rows.z == 3);
            CHECK(rows.y_begin == next);
            CHECK(rows.y_end > rows.y_begin);
            next = rows.y_end;
        }
        CHECK(next == y.end());
    }
}

TEST_CASE("a step of BT or SP does not depend on the number of threads, to the last bit") {
    for (const int edge : {7, 12, 21}) {
        check_threads<bt::Solver>(flow::ProcessGrid::of(alone, 1, 1), edge);
        check_threads<sp::Solver>(flow::ProcessGrid::of(alone, 1, 1), edge);
    }
}

TEST_CASE("ranks of the run: with lines cut along y or z, steps of BT and SP do not depend on the threads") {
    const World world = World::of(MPI_COMM_WORLD);
    const int edge = 6 * world.ranks + 7;
    for (const auto& grid :
         {flow::ProcessGrid::of(world, world.ranks, 1), flow::ProcessGrid::of(world, 1, world.ranks)}) {
        check_threads<bt::Solver>(grid, edge);
        check_threads<sp::Solver>(grid, edge);
    }
}
