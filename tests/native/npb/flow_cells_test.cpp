// SPDX-License-Identifier: Apache-2.0
// The cells of a multi-partition, and the solvers of BT and SP in them.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "npb/bt/cell_solver.hpp"
#include "npb/bt/problem.hpp"
#include "npb/bt/solver.hpp"
#include "npb/flow/cell_grid.hpp"
#include "npb/flow/exact.hpp"
#include "npb/flow/field.hpp"
#include "npb/flow/groups.hpp"
#include "npb/flow/process_grid.hpp"
#include "npb/sp/cell_solver.hpp"
#include "npb/sp/problem.hpp"
#include "npb/sp/solver.hpp"

using namespace tare::npb;
using namespace tare::npb::flow;

namespace {

const World alone{.communicator = MPI_COMM_SELF, .rank = 0, .ranks = 1};

CellGrid grid_of(int rank, int side) { return {World{.rank = rank, .ranks = side * side}, side}; }

/// The block that follows another along one axis, if `after` is.
bool follows(const Block& before, const Block& after, Axis axis) {
    const auto meets = [&](const Extent& first, const Extent& second, bool is_along) {
        return is_along ? second.first == first.first + first.count
                        : second.first == first.first && second.count == first.count;
    };
    return meets(before.x, after.x, axis == Axis::x) && meets(before.y, after.y, axis == Axis::y) &&
           meets(before.z, after.z, axis == Axis::z);
}

/// The operator applied to the exact solution.
Field operator_of_exact(const Block& block, Simd simd) {
    Team team{1};
    Field exact{block, Field::Border::ghosts};
    set_exact(exact, team);
    const Field nothing{block, Field::Border::none};
    Field result{block, Field::Border::none};
    RightHandSide{functions(simd), 1, exact, nothing, result}.set(team);
    return result;
}

/// Of a cell and the same points of the whole cube, inside the boundary.
double largest_difference(const Field& cell, const Field& whole) {
    const auto& [x, y, z] = cell.block();
    double largest = 0;
    for (int k = z.begin(); k < z.end(); ++k) {
        for (int j = y.begin(); j < y.end(); ++j) {
            for (int i = x.begin(); i < x.end(); ++i) {
                const Point here = cell.point(k, j, i);
                const Point there = whole.point(z.first + k, y.first + j, x.first + i);
                for (std::size_t component = 0; component < here.size(); ++component) {
                    largest = std::max(largest, std::abs(here.at(component) - there.at(component)));
                }
            }
        }
    }
    return largest;
}

void check_same(const Point& cells, const Point& pencils) {
    for (std::size_t component = 0; component < cells.size(); ++component) {
        CHECK(cells.at(component) == doctest::Approx(pencils.at(component)).epsilon(1e-11));
    }
}

}  // namespace

TEST_CASE("cells of all ranks hold each point once, and one in each slab of each axis is the rank's") {
    for (const int side : {1, 2, 3, 4, 5}) {
        const int edge = 3 * side + 2;
        std::vector<int> holders(static_cast<std::size_t>(edge * edge * edge));
        for (int rank = 0; rank < side * side; ++rank) {
            const CellGrid grid = grid_of(rank, side);
            for (int cell = 0; cell < side; ++cell) {
                const auto& [x, y, z] = grid.block(cell, edge);
                for (int k = z.first; k < z.first + z.count; ++k) {
                    for (int j = y.first; j < y.first + y.count; ++j) {
                        for (int i = x.first; i < x.first + x.count; ++i) {
                            ++holders.at(static_cast<std::size_t>((k * edge + j) * edge + i));
                        }
                    }
                }
                for (const Axis axis : axes) {
                    CHECK(grid.cell_in(grid.slab(cell, axis), axis) == cell);
                }
            }
        }
        CHECK(std::ranges::all_of(holders, [](int count) { return count == 1; }));
    }
}

TEST_CASE("behind each cell along an axis lies the same next rank's, before it the previous rank's") {
    constexpr int edge = 17;
    for (const int side : {2, 3, 4, 5}) {
        for (int rank = 0; rank < side * side; ++rank) {
            const CellGrid grid = grid_of(rank, side);
            for (const Axis axis : axes) {
                const CellGrid next = grid_of(grid.next(axis), side);
                CHECK(next.previous(axis) == rank);
                for (int slab = 0; slab < side - 1; ++slab) {
                    CHECK(follows(grid.block(grid.cell_in(slab, axis), edge),
                                  next.block(next.cell_in(slab + 1, axis), edge), axis));
                }
            }
        }
    }
}

TEST_CASE("a cell with its neighbours' faces has the right-hand side of the whole") {
    constexpr int edge = 29;
    constexpr int side = 3;
    const Block cube = grid_of(0, 1).block(0, edge);
    for (const Simd simd : runnable()) {
        const Field whole = operator_of_exact(cube, simd);
        for (int rank = 0; rank < side * side; ++rank) {
            for (int cell = 0; cell < side; ++cell) {
                const Field part = operator_of_exact(grid_of(rank, side).block(cell, edge), simd);
                CHECK(largest_difference(part, whole) < 1e-10);
            }
        }
    }
}

TEST_CASE("cells of two places are refused, as by the reference") {
    Arguments arguments;
    arguments.messages = Messages::reference;
    const World last{.communicator = MPI_COMM_SELF, .rank = 24, .ranks = 25};
    CHECK_THROWS_AS(bt::kernel.run(arguments, last), WrongUse);
    CHECK_THROWS_AS(sp::kernel.run(arguments, last), WrongUse);
}

TEST_CASE("steps in one cell that is the whole cube are those in pencils") {
    constexpr double time_step = 0.01;
    for (const int edge : {9, 12, 16}) {
        for (const Simd simd : runnable()) {
            for (const int threads : {1, 2}) {
                Team team{threads};
                bt::Times times;
                sp::Times sp_times;
                bt::Solver pencils{ProcessGrid::of(alone, 1, 1), edge, time_step, simd, team};
                bt::CellSolver cells{CellGrid{alone, 1}, edge, time_step, simd, team};
                sp::Solver sp_pencils{ProcessGrid::of(alone, 1, 1), edge, time_step, simd, team};
                sp::CellSolver sp_cells{CellGrid{alone, 1}, edge, time_step, simd, team};
                for (int count = 0; count < 3; ++count) {
                    pencils.step(times);
                    cells.step(times);
                    sp_pencils.step(sp_times);
                    sp_cells.step(sp_times);
                }
                check_same(cells.error_norms(), pencils.error_norms());
                check_same(cells.residual_norms(), pencils.residual_norms());
                check_same(sp_cells.error_norms(), sp_pencils.error_norms());
                check_same(sp_cells.residual_norms(), sp_pencils.residual_norms());
            }
        }
    }
}
