// SPDX-License-Identifier: Apache-2.0
#include "hpl/solve.hpp"

#include <algorithm>

#include "hpl/products.hpp"

namespace tare::hpl {

namespace {

constexpr int step = 1;

/// A block of unknowns: its place in the grid and in this process.
struct Block {
    int first;
    int width;
    int process_row;
    int process_column;
};

class BackSubstitution {
  public:
    BackSubstitution(Matrix& matrix, const Grid& grid, const Blas& blas)
        : matrix_{matrix.view()},
          grid_{&grid},
          blas_{&blas},
          rest_(static_cast<std::size_t>(matrix.rows())),
          x_(static_cast<std::size_t>(grid.columns.local_count(matrix.size()))) {
        if (grid.columns.owns(matrix.size())) {
            for (int row = 0; row < matrix.rows(); ++row) {
                rest_[static_cast<std::size_t>(row)] = matrix_.at(row, grid.columns.local(matrix.size()));
            }
        }
    }

    void solve(const Block& block) {
        std::vector<double> part(static_cast<std::size_t>(block.width));
        if (grid_->rows.index == block.process_row) {
            sum(block, part);
        }
        if (grid_->columns.index == block.process_column) {
            if (grid_->rows.index == block.process_row) {
                solve_triangle(block, part);
            }
            MPI_Bcast(part.data(), block.width, MPI_DOUBLE, block.process_row, grid_->in_column.get());
            const auto start = static_cast<std::ptrdiff_t>(grid_->columns.local(block.first));
            std::copy(part.begin(), part.end(), x_.begin() + start);
            subtract(block, part);
        }
    }

    [[nodiscard]] std::vector<double> take() { return std::move(x_); }

  private:
    /// What is left of b in the block's rows: each process of a row knows what its own columns took.
    void sum(const Block& block, std::vector<double>& part) const {
        const auto start = rest_.begin() + grid_->rows.local(block.first);
        const std::vector<double> own(start, start + block.width);
        MPI_Reduce(own.data(), part.data(), block.width, MPI_DOUBLE, MPI_SUM, block.process_column,
                   grid_->in_row.get());
    }

    void solve_triangle(const Block& block, std::vector<double>& part) const {
        const View triangle = matrix_.from(grid_->rows.local(block.first), grid_->columns.local(block.first));
        blas_->trsm("L", "U", "N", "N", &block.width, &step, &plus_one, triangle.values.data(),
                    &triangle.lead, part.data(), &block.width);
    }

    /// Takes the block's unknowns out of the rows above it.
    void subtract(const Block& block, const std::vector<double>& part) {
        const int above = grid_->rows.local_count(block.first);
        if (above > 0) {
            const View columns = matrix_.from(0, grid_->columns.local(block.first));
            blas_->gemv("N", &above, &block.width, &minus_one, columns.values.data(), &columns.lead,
                        part.data(), &step, &plus_one, rest_.data(), &step);
        }
    }

    View matrix_;
    const Grid* grid_;
    const Blas* blas_;
    /// This process's share of what is left of b: the shares of a row of processes sum to it.
    std::vector<double> rest_;
    std::vector<double> x_;
};

}  // namespace

std::vector<double> solve(const Problem& problem, Matrix& matrix, const Grid& grid, const Blas& blas) {
    BackSubstitution substitution{matrix, grid, blas};
    for (int first = (problem.size - 1) / problem.block * problem.block; first >= 0; first -= problem.block) {
        substitution.solve({.first = first,
                            .width = std::min(problem.block, problem.size - first),
                            .process_row = grid.rows.owner(first),
                            .process_column = grid.columns.owner(first)});
    }
    return substitution.take();
}

}  // namespace tare::hpl
