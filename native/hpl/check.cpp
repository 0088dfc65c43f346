// SPDX-License-Identifier: Apache-2.0
#include "hpl/check.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hpl/products.hpp"

namespace tare::hpl {

namespace {

using Vector = std::vector<double>;

/// Of all processes. Infinite if any value is no number: no maximum would show that.
double maximum_norm(std::span<const double> values, const npb::World& world) {
    double largest = 0;
    for (const double value : values) {
        largest = std::isnan(value) ? HUGE_VAL : std::max(largest, std::abs(value));
    }
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, world.communicator);
    return largest;
}

/// Sums over the columns, which a row of processes shares.
void sum_over_row(Vector& values, const Grid& grid) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                  grid.in_row.get());
}

Vector row_sums(const View& all, int rows, int columns) {
    Vector sums(static_cast<std::size_t>(rows));
    for (int column = 0; column < columns; ++column) {
        for (int row = 0; row < rows; ++row) {
            sums[static_cast<std::size_t>(row)] += std::abs(all.at(row, column));
        }
    }
    return sums;
}

Vector multiplied(const View& all, int rows, std::span<const double> solution, const Blas& blas) {
    constexpr int stride = 1;
    Vector result(static_cast<std::size_t>(rows));
    const auto columns = static_cast<int>(solution.size());
    if (rows > 0 && columns > 0) {
        blas.gemv("N", &rows, &columns, &plus_one, all.values.data(), &all.lead, solution.data(), &stride,
                  &plus_one, result.data(), &stride);
    }
    return result;
}

}  // namespace

double scaled_residual(std::span<const double> solution, Matrix& matrix, const Grid& grid,
                       const npb::World& world, const Blas& blas) {
    matrix.generate(grid);
    const View all = matrix.view();
    Vector sums = row_sums(all, matrix.rows(), static_cast<int>(solution.size()));
    Vector rest = multiplied(all, matrix.rows(), solution, blas);
    sum_over_row(sums, grid);
    sum_over_row(rest, grid);
    Vector right(rest.size());
    for (std::size_t row = 0; row < rest.size(); ++row) {
        right[row] = entry(grid.rows.global(static_cast<int>(row)), matrix.size());
        rest[row] -= right[row];
    }
    const auto norm = [&](std::span<const double> values) { return maximum_norm(values, world); };
    return norm(rest) / (epsilon * (norm(sums) * norm(solution) + norm(right)) * matrix.size());
}

}  // namespace tare::hpl
