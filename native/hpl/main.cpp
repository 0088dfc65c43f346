// SPDX-License-Identifier: Apache-2.0
// High-Performance Linpack: solves a dense random system by LU with partial pivoting, times that, and checks
// the solution by HPL's test. Rank 0 prints one line of JSON.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/exec.hpp"
#include "common/json.hpp"
#include "common/mpi.hpp"
#include "common/system.hpp"
#include "hpl/check.hpp"
#include "hpl/factor.hpp"
#include "hpl/options.hpp"
#include "hpl/solve.hpp"
#include "npb/common/timing.hpp"

namespace {

using namespace tare::hpl;
using tare::npb::World;

constexpr const char* program = "hpl";

struct Solved {
    double wall_s = 0;
    double residual = 0;

    [[nodiscard]] bool is_right() const { return residual < residual_limit; }
};

/// HPL's count: 2/3 N³ + 3/2 N².
double flop_of(double size) {
    constexpr double of_cube = 2.0 / 3.0;    // NOLINT(*-magic-numbers)
    constexpr double of_square = 3.0 / 2.0;  // NOLINT(*-magic-numbers)
    return (of_cube * size + of_square) * size * size;
}

Solved run(const Problem& problem, const World& world) {
    const Blas blas = load_blas();
    const Grid grid{problem, world};
    Matrix matrix{problem, grid};
    matrix.generate(grid);
    std::vector<double> solution;
    Solved solved;
    solved.wall_s = tare::npb::timed(world.communicator, [&] {
        factor(problem, matrix, grid, blas);
        solution = solve(problem, matrix, grid, blas);
    });
    MPI_Allreduce(MPI_IN_PLACE, &solved.wall_s, 1, MPI_DOUBLE, MPI_MAX, world.communicator);
    solved.residual = scaled_residual(solution, matrix, grid, world, blas);
    return solved;
}

void report(const Problem& problem, const Solved& solved) {
    const double flop = flop_of(problem.size);
    const auto line = tare::JsonObject{}
                          .add("size", problem.size)
                          .add("block", problem.block)
                          .add("process_rows", problem.process_rows)
                          .add("process_columns", problem.process_columns)
                          .add("wall_s", solved.wall_s)
                          .add("flop", flop)
                          .add("flop_per_s", flop / solved.wall_s)
                          .add("residual", solved.residual)
                          .add("residual_limit", residual_limit)
                          .add("passed", solved.is_right())
                          .text();
    std::puts(line.c_str());
    if (!solved.is_right()) {
        tare::complain(program,
                       "wrong solution: its scaled residual is " + tare::json_number(solved.residual));
    }
}

int solve_and_report(const Problem& problem, const World& world) {
    const Solved solved = run(problem, world);
    if (world.rank == 0) {
        report(problem, solved);
    }
    return solved.is_right() ? 0 : 1;
}

/// One rank that ends alone would leave the others waiting for it for ever.
int end_all(const World& world, const char* what) {
    tare::complain(program, "rank " + std::to_string(world.rank) + ": " + what);
    MPI_Abort(world.communicator, 1);
    return 1;
}

int start(std::span<char* const> words) {
    const World world = World::of(MPI_COMM_WORLD);
    try {
        return solve_and_report(parse_options(words, world.ranks), world);
    } catch (const std::invalid_argument& error) {  // in all ranks alike
        if (world.rank == 0) {
            tare::complain(program, error.what());
        }
        return tare::exit_wrong_use;
    } catch (const std::bad_alloc&) {
        return end_all(world, "not enough memory for this size on so few ranks");
    } catch (const std::exception& error) {
        return end_all(world, error.what());
    }
}

}  // namespace

int main(int argc, char** argv) {
    const tare::Mpi mpi{&argc, &argv};
    return start(std::span<char* const>{argv, static_cast<std::size_t>(argc)}.subspan(1));
}
