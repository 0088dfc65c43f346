// SPDX-License-Identifier: Apache-2.0
// What the ranks of a run do together. With one rank these hold too; mpirun starts them with more.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <vector>

#include "npb/common/arguments.hpp"
#include "npb/common/share.hpp"
#include "npb/common/team.hpp"
#include "npb/mg/charges.hpp"
#include "npb/mg/layout.hpp"
#include "npb/mg/multigrid.hpp"
#include "npb/mg/operators.hpp"

using namespace tare::npb;
using namespace tare::npb::mg;

namespace {

constexpr int cycles = 3;
constexpr double rounding = 1e-13;

/// A problem of some ranks.
struct Problem {
    Problem(int edge, const World& active, Messages way, int threads = 1)
        : team{threads}, world{active}, messages{way}, multigrid{functions(runnable().back()),
                                                                 smoother_a,
                                                                 messages,
                                                                 edge,
                                                                 active,
                                                                 team} {}

    /// The norm of the residual after all V-cycles.
    double solve() {
        place_charges(multigrid.right_side(), messages, world, team);
        multigrid.start_from_zero();
        multigrid.first_residual();
        for (int cycle = 1; cycle < cycles; ++cycle) {
            multigrid.iterate();
        }
        return multigrid.iterate_last();
    }

    [[nodiscard]] const Block& block() { return multigrid.solution().block(); }

    /// At a place of the grid, which lies in this rank's block.
    [[nodiscard]] double solution(int z, int y, int x) {
        const auto first = [&](Axis axis) { return block().points(axis).first; };
        const Grid grid = multigrid.solution().grid();
        return *std::next(grid.row(z - first(z_axis), y - first(y_axis)), x - first(x_axis));
    }

    Team team;
    World world;
    Messages messages;
    Multigrid multigrid;
};

/// Calls `work(z, y, x)` with the grid's place of each of the block's points.
template <typename Work>
void each_point(const Block& block, const Work& work) {
    const Share<int>& zs = block.points(z_axis);
    const Share<int>& ys = block.points(y_axis);
    const Share<int>& xs = block.points(x_axis);
    for (int z = zs.first; z < zs.end(); ++z) {
        for (int y = ys.first; y < ys.end(); ++y) {
            for (int x = xs.first; x < xs.end(); ++x) {
                work(z, y, x);
            }
        }
    }
}

/// Between the solution in this rank's points and one that has all points.
double largest_difference(Problem& part, Problem& whole) {
    double largest = 0;
    each_point(part.block(), [&](int z, int y, int x) {
        largest = std::max(largest, std::abs(part.solution(z, y, x) - whole.solution(z, y, x)));
    });
    return largest;
}

const World itself{.communicator = MPI_COMM_SELF};

/// Calls `work` with the ranks that this edge can use.
template <typename Work>
void with_active(int edge, Messages messages, const Work& work) {
    const World world = World::of(MPI_COMM_WORLD);
    const Communicator active = first_ranks(world, Multigrid::active_ranks(messages, edge, world));
    if (active.has_part()) {
        work(World::of(active.get()));
    }
}

}  // namespace

TEST_CASE("ranks of the run: together they find what one finds alone, to the last bit") {
    const auto check = [](int edge, int threads, const World& active) {
        Problem alone{edge, itself, Messages::own, threads};
        Problem together{edge, active, Messages::own, threads};
        CHECK(together.solve() == doctest::Approx(alone.solve()).epsilon(rounding));
        CHECK(largest_difference(together, alone) == 0);
    };
    for (const int edge : {16, 32, 64}) {
        for (const int threads : {1, 2}) {
            with_active(edge, Messages::own, [&](const World& active) { check(edge, threads, active); });
        }
    }
}

TEST_CASE("ranks of the run: blocks and their messages give the solution of the sweep over planes") {
    const auto check = [](int edge, const World& active) {
        Problem planes{edge, itself, Messages::own};
        const double norm = planes.solve();
        for (const int threads : {1, 2}) {
            Problem blocks{edge, active, Messages::reference, threads};
            CHECK(blocks.solve() == doctest::Approx(norm).epsilon(rounding));
            CHECK(largest_difference(blocks, planes) < rounding);
        }
    };
    for (const int edge : {16, 32, 64}) {
        with_active(edge, Messages::reference, [&](const World& active) { check(edge, active); });
    }
}

TEST_CASE("blocks of any number of ranks hold each point once, and neighbours follow each other") {
    for (const int ranks : {1, 2, 4, 8, 16, 32, 64, 128}) {
        for (const int edge : {2, 4, 8, 16}) {
            std::vector<int> holders(static_cast<std::size_t>(edge * edge * edge));
            for (int rank = 0; rank < ranks; ++rank) {
                const BlockCut cut{World{.rank = rank, .ranks = ranks}};
                const Block block = cut.block(edge);
                each_point(block, [&](int z, int y, int x) {
                    ++holders.at(static_cast<std::size_t>((z * edge + y) * edge + x));
                });
                if (!block.is_empty()) {
                    for (const Axis axis : axes) {
                        const int after = cut.neighbour(axis, block.stride(axis));
                        const Block next = BlockCut{World{.rank = after, .ranks = ranks}}.block(edge);
                        CHECK(next.points(axis).first == block.points(axis).end() % edge);
                        CHECK(!next.is_empty());
                    }
                }
            }
            CHECK(std::ranges::all_of(holders, [](int count) { return count == 1; }));
        }
    }
}

TEST_CASE("a cube of ranks has no axis with more ranks than the grid has points") {
    CHECK(BlockCut::ranks_of(16, 3) == 2);
    CHECK(BlockCut::ranks_of(16, 16) == 16);
    CHECK(BlockCut::ranks_of(16, 1 << 20) == 16 * 16 * 16);
}

TEST_CASE("ranks of the run: a second run remembers nothing of the first") {
    constexpr int edge = 32;
    for (const Messages messages : {Messages::own, Messages::reference}) {
        with_active(edge, messages, [&](const World& active) {
            Problem problem{edge, active, messages};
            const double norm = problem.solve();
            const Field& field = problem.multigrid.solution();
            const Grid grid = problem.multigrid.solution().grid();
            for (int plane = 0; plane < field.planes(); ++plane) {
                for (int row = 0; row < field.rows(); ++row) {
                    std::fill_n(grid.row(plane, row), grid.points, std::numeric_limits<double>::quiet_NaN());
                }
            }
            CHECK(problem.solve() == norm);
        });
    }
}
