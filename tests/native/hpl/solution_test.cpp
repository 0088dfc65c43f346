// SPDX-License-Identifier: Apache-2.0
// The factorization on every grid of the ranks that run this, with a BLAS of plain loops.
#include <doctest/doctest.h>
#include <mpi.h>

#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "hpl/check.hpp"
#include "hpl/factor.hpp"
#include "hpl/solve.hpp"

using namespace tare::hpl;
using tare::npb::World;

namespace {

/// Element of a matrix as BLAS gets it.
class Plain {
  public:
    Plain(const double* values, const int* lead, bool transposed)
        : values_{values}, lead_{*lead}, transposed_{transposed} {}
    double operator()(int row, int column) const {
        const std::ptrdiff_t across = transposed_ ? row : column;
        return values_[(transposed_ ? column : row) + across * lead_];
    }

  private:
    const double* values_;
    std::ptrdiff_t lead_;
    bool transposed_;
};

void gemm(const char* of_a, const char* of_b, const int* m, const int* n, const int* k, const double* alpha,
          const double* a, const int* lead_a, const double* b, const int* lead_b, const double* beta,
          double* c, const int* lead_c) {
    const Plain left{a, lead_a, *of_a == 'T'};
    const Plain right{b, lead_b, *of_b == 'T'};
    for (int column = 0; column < *n; ++column) {
        for (int row = 0; row < *m; ++row) {
            double sum = 0;
            for (int inner = 0; inner < *k; ++inner) {
                sum += left(row, inner) * right(inner, column);
            }
            double& target = c[row + static_cast<std::ptrdiff_t>(column) * *lead_c];
            target = *beta * target + *alpha * sum;
        }
    }
}

/// Solves op(A) X = B for one column of B, or one row of it when A is at the right, `step` apart.
void substitute(const Plain& a, bool lower, bool unit, int count, double* x, std::ptrdiff_t step) {
    for (int place = 0; place < count; ++place) {
        const int row = lower ? place : count - 1 - place;
        double value = x[row * step];
        for (int other = lower ? 0 : row + 1; other < (lower ? row : count); ++other) {
            value -= a(row, other) * x[other * step];
        }
        x[row * step] = unit ? value : value / a(row, row);
    }
}

void trsm(const char* side, const char* part, const char* transpose, const char* diagonal, const int* m,
          const int* n, const double* /*alpha*/, const double* a, const int* lead_a, double* b,
          const int* lead_b) {
    const bool at_left = *side == 'L';
    // X op(A) = B is op(A)ᵀ Xᵀ = Bᵀ.
    const bool transposed = (*transpose == 'T') == at_left;
    const bool lower = (*part == 'L') != transposed;
    const Plain triangle{a, lead_a, transposed};
    for (int index = 0; index < (at_left ? *n : *m); ++index) {
        double* const start = at_left ? b + static_cast<std::ptrdiff_t>(index) * *lead_b : b + index;
        substitute(triangle, lower, *diagonal == 'U', at_left ? *m : *n, start, at_left ? 1 : *lead_b);
    }
}

void gemv(const char* transpose, const int* m, const int* n, const double* alpha, const double* a,
          const int* lead_a, const double* x, const int* /*step*/, const double* beta, double* y,
          const int* /*step*/) {
    const int one_column = 1;
    gemm(transpose, "N", m, &one_column, n, alpha, a, lead_a, x, n, beta, y, m);
}

constexpr Blas plain{.gemm = gemm, .trsm = trsm, .gemv = gemv};

double residual_of(const Problem& problem, const World& world) {
    const Grid grid{problem, world};
    Matrix matrix{problem, grid};
    matrix.generate(grid);
    factor(problem, matrix, grid, plain);
    const std::vector<double> x = solve(problem, matrix, grid, plain);
    return scaled_residual(x, matrix, grid, world, plain);
}

}  // namespace

TEST_CASE("ranks of the run solve systems of any size, block and grid") {
    const World world = World::of(MPI_COMM_WORLD);
    for (int rows = 1; rows <= world.ranks; ++rows) {
        if (world.ranks % rows == 0) {
            for (const int size : {1, 2, 31, 64, 101}) {
                for (const int block : {1, 7, 16, 64}) {
                    CAPTURE(rows);
                    CAPTURE(size);
                    CAPTURE(block);
                    CHECK(residual_of({.size = size,
                                       .block = block,
                                       .process_rows = rows,
                                       .process_columns = world.ranks / rows},
                                      world) < 1);
                }
            }
        }
    }
}

TEST_CASE("ranks of the run do not accept a solution with one wrong or missing number") {
    const World world = World::of(MPI_COMM_WORLD);
    const Problem problem{.size = 40, .block = 8, .process_rows = 1, .process_columns = world.ranks};
    const Grid grid{problem, world};
    Matrix matrix{problem, grid};
    for (const double wrong : {1e-9, 1.0, std::nan("")}) {
        matrix.generate(grid);
        factor(problem, matrix, grid, plain);
        std::vector<double> x = solve(problem, matrix, grid, plain);
        if (world.rank == 0) {
            x.front() += wrong;
        }
        CHECK_FALSE(scaled_residual(x, matrix, grid, world, plain) < residual_limit);
    }
}
