// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <span>

#include "hpl/blas.hpp"
#include "hpl/matrix.hpp"

namespace tare::hpl {

/// A block of columns after its factorization, as all processes need it: which row came to each place, the
/// factors of these rows, and this process row's part of the factor L below them.
class Panel {
  public:
    /// Room for any panel of the problem.
    Panel(const Problem& problem, const Grid& grid);

    /// Makes it the panel whose first column is `first`; its content is then unknown.
    void begin(int first, const Grid& grid);

    [[nodiscard]] int first() const { return first_; }
    /// Columns.
    [[nodiscard]] int width() const { return width_; }
    /// One past its last column.
    [[nodiscard]] int end() const { return first_ + width_; }
    /// Rows of `lower`.
    [[nodiscard]] int rows() const { return rows_; }

    /// The global row that was swapped into the place `first() + column`.
    [[nodiscard]] int pivot(int column) const;
    void set_pivot(int column, int row);
    /// `width` by `width`: L below the diagonal, which is 1, and U.
    [[nodiscard]] View top();
    /// This process row's rows of L after `top`.
    [[nodiscard]] View lower();

    /// Begins to send it from its own process column to the others; `request` must be waited for.
    void send(const Grid& grid, MPI_Request& request);

  private:
    int size_;
    int block_;
    int first_ = 0;
    int width_ = 0;
    int rows_ = 0;
    /// Pivots, `top` and `lower`, one after the other: one message.
    npb::Buffer<double> values_;
};

/// Factors the panel by partial pivoting, in its process column only: all rows of that column take part. The
/// matrix keeps U in the panel's columns. Throws `std::runtime_error` for a singular matrix.
void factor_panel(Panel& panel, Matrix& matrix, const Grid& grid, const Blas& blas);

}  // namespace tare::hpl
