// SPDX-License-Identifier: Apache-2.0
// What the ranks of a run do together. With one rank these hold too; mpirun starts them with more.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "npb/common/share.hpp"
#include "npb/common/team.hpp"
#include "npb/mg/block_multigrid.hpp"
#include "npb/mg/charges.hpp"
#include "npb/mg/classes.hpp"
#include "npb/mg/layout.hpp"
#include "npb/mg/multigrid.hpp"

using namespace tare::npb;
using namespace tare::npb::mg;

namespace {

constexpr int cycles = 3;

/// A problem of some ranks, each with its planes.
struct Problem {
    Problem(int edge, const World& active, int threads = 1)
        : team{threads},
          layout{edge, active},
          planes{layout.planes(edge, active.rank)},
          world{active},
          multigrid{functions(runnable().back()), smoother_a, layout, active, team} {}

    /// The norm of the residual after all V-cycles.
    double solve() {
        place_charges(multigrid.right_side(), planes, world, team);
        multigrid.start_from_zero();
        multigrid.first_residual();
        for (int cycle = 1; cycle < cycles; ++cycle) {
            multigrid.iterate();
        }
        return multigrid.iterate_last();
    }

    [[nodiscard]] std::span<double> solution(int plane) {
        Field& field = multigrid.solution();
        return {field.grid().row(plane, 0), field.plane_size()};
    }

    Team team;
    Layout layout;
    Share<int> planes;
    World world;
    Multigrid multigrid;
};

/// The same problem in blocks.
struct BlockProblem {
    BlockProblem(int edge, const World& active, int threads)
        : team{threads},
          world{active},
          multigrid{functions(runnable().back()), smoother_a, edge, active, team} {}

    double solve() {
        place_charges(multigrid.right_side(), world, team);
        multigrid.start_from_zero();
        multigrid.first_residual();
        for (int cycle = 1; cycle < cycles; ++cycle) {
            multigrid.iterate();
        }
        return multigrid.iterate_last();
    }

    Team team;
    World world;
    BlockMultigrid multigrid;
};

/// Calls `work(z, y, x)` with the grid's place of each of the block's points.
template <typename Work>
void each_point(const Block& block, const Work& work) {
    const Share<int>& zs = block.span(z_axis).points;
    const Share<int>& ys = block.span(y_axis).points;
    const Share<int>& xs = block.span(x_axis).points;
    for (int z = zs.first; z < zs.end(); ++z) {
        for (int y = ys.first; y < ys.end(); ++y) {
            for (int x = xs.first; x < xs.end(); ++x) {
                work(z, y, x);
            }
        }
    }
}

double largest_difference(BlockField& field, Problem& planes) {
    const Block& block = field.block();
    const auto first = [&](Axis axis) { return block.span(axis).points.first; };
    double largest = 0;
    each_point(block, [&](int z, int y, int x) {
        const double here = *std::next(field.row(z - first(z_axis), y - first(y_axis)), x - first(x_axis));
        const double there = *std::next(planes.multigrid.solution().grid().row(z, y), x);
        largest = std::max(largest, std::abs(here - there));
    });
    return largest;
}

double largest_difference(std::span<const double> left, std::span<const double> right) {
    double largest = 0;
    for (std::size_t place = 0; place < left.size(); ++place) {
        largest = std::max(largest, std::abs(left[place] - right[place]));
    }
    return largest;
}

/// Calls `work` with the ranks that this edge can use.
template <typename Work>
void with_active(int edge, const Work& work) {
    const World world = World::of(MPI_COMM_WORLD);
    const Communicator active = first_ranks(world, Layout{edge, world}.active_ranks());
    if (active.has_part()) {
        work(World::of(active.get()));
    }
}

}  // namespace

TEST_CASE("ranks of the run: together they find what one finds alone, to the last bit") {
    const auto check = [](int edge, int threads, const World& active) {
        Problem alone{edge, World{.communicator = MPI_COMM_SELF}, threads};
        Problem together{edge, active, threads};
        CHECK(together.solve() == doctest::Approx(alone.solve()).epsilon(1e-13));
        double difference = 0;
        for (int plane = 0; plane < together.planes.count; ++plane) {
            difference = std::max(
                difference,
                largest_difference(together.solution(plane), alone.solution(together.planes.first + plane)));
        }
        CHECK(difference == 0);
    };
    for (const int edge : {16, 32, 64}) {
        for (const int threads : {1, 2}) {
            with_active(edge, [&](const World& active) { check(edge, threads, active); });
        }
    }
}

TEST_CASE("ranks of the run: blocks and their messages give the solution of the sweep over planes") {
    constexpr double rounding = 1e-13;
    const World world = World::of(MPI_COMM_WORLD);
    for (const int edge : {16, 32, 64}) {
        const Communicator part = first_ranks(world, Cut::ranks_of(edge, world.ranks));
        if (!part.has_part()) {
            continue;
        }
        const World active = World::of(part.get());
        Problem planes{edge, World{.communicator = MPI_COMM_SELF}};
        const double norm = planes.solve();
        for (const int threads : {1, 2}) {
            BlockProblem blocks{edge, active, threads};
            CHECK(blocks.solve() == doctest::Approx(norm).epsilon(rounding));
            CHECK(largest_difference(blocks.multigrid.solution(), planes) < rounding);
        }
    }
}

TEST_CASE("blocks of any number of ranks hold each point once, and neighbours follow each other") {
    for (const int ranks : {1, 2, 4, 8, 16, 32, 64, 128}) {
        for (const int edge : {2, 4, 8, 16}) {
            std::vector<int> holders(static_cast<std::size_t>(edge * edge * edge));
            for (int rank = 0; rank < ranks; ++rank) {
                const Cut cut{World{.rank = rank, .ranks = ranks}};
                const Block block{cut, edge};
                each_point(block, [&](int z, int y, int x) {
                    ++holders.at(static_cast<std::size_t>((z * edge + y) * edge + x));
                });
                if (!block.is_empty()) {
                    for (const Axis axis : axes) {
                        const int after = cut.neighbour(axis, block.span(axis).stride);
                        const Block next{Cut{World{.rank = after, .ranks = ranks}}, edge};
                        CHECK(next.span(axis).points.first == block.span(axis).points.end() % edge);
                        CHECK(!next.is_empty());
                    }
                }
            }
            CHECK(std::ranges::all_of(holders, [](int count) { return count == 1; }));
        }
    }
}

TEST_CASE("a cube of ranks has no axis with more ranks than the grid has points") {
    CHECK(Cut::ranks_of(16, 3) == 2);
    CHECK(Cut::ranks_of(16, 16) == 16);
    CHECK(Cut::ranks_of(16, 1 << 20) == 16 * 16 * 16);
}

TEST_CASE("ranks of the run: a second run remembers nothing of the first") {
    constexpr int edge = 32;
    with_active(edge, [](const World& active) {
        Problem problem{edge, active};
        const double norm = problem.solve();
        for (int plane = 0; plane < problem.planes.count; ++plane) {
            std::ranges::fill(problem.solution(plane), std::numeric_limits<double>::quiet_NaN());
        }
        CHECK(problem.solve() == norm);
    });
}
