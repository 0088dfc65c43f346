// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "hpl/axis.hpp"
#include "hpl/view.hpp"
#include "npb/common/buffer.hpp"
#include "npb/common/world.hpp"

namespace tare::hpl {

/// The system A x = b: A is `size` by `size`, b its column number `size`.
struct Problem {
    int size = 0;
    int block = 1;
    /// Of the grid of processes, in row-major order.
    int process_rows = 1;
    int process_columns = 1;
};

/// The processes of a grid, and this one's place among them.
struct Grid {
    Grid(const Problem& problem, const npb::World& world);

    Axis rows;
    Axis columns;
    /// The processes with the same rows, in the order of their columns.
    npb::Communicator in_row;
    /// The processes with the same columns, in the order of their rows.
    npb::Communicator in_column;
};

/// Element of the system, in (-0.5, 0.5): the same whatever the grid.
[[nodiscard]] double entry(int row, int column);

/// A process's part of the system.
class Matrix {
  public:
    /// Throws `std::bad_alloc`.
    Matrix(const Problem& problem, const Grid& grid);

    /// Writes the system, over whatever there is.
    void generate(const Grid& grid);

    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] int rows() const { return rows_; }
    /// With b's, where this process has it.
    [[nodiscard]] int columns() const { return columns_; }
    [[nodiscard]] View view() { return {.values = values_.span(), .lead = lead_}; }

  private:
    int size_;
    int rows_;
    int columns_;
    int lead_;
    npb::Buffer<double> values_;
};

}  // namespace tare::hpl
