// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <vector>

#include "hpl/panel.hpp"

namespace tare::hpl {

/// Where rows go when a panel's pivots are swapped, one after the other: global rows.
struct Swaps {
    /// Place in the panel's rows → the row that comes there.
    std::vector<int> sources;
    /// A row below the panel, and the one of the panel's rows which goes there.
    struct Displaced {
        int from = 0;
        int to = 0;
    };
    std::vector<Displaced> displaced;

    [[nodiscard]] static Swaps of(const Panel& panel);
};

/// Brings columns up to date with a panel: swaps its rows, solves for U, and subtracts L U below.
class Update {
  public:
    /// Room for any panel of the problem.
    Update(const Problem& problem, const Matrix& matrix);

    /// The local columns from `begin` up to `end`, in all processes of the process column alike.
    void apply(Panel& panel, int begin, int end, Matrix& matrix, const Grid& grid, const Blas& blas);

  private:
    void gather(const Swaps& swaps, const View& columns, int count, const Grid& grid);
    void scatter(const Swaps& swaps, const View& columns, int count, const Grid& grid);

    /// The panel's rows of these columns, a row after the other.
    npb::Buffer<double> upper_;
    npb::Buffer<double> sent_;
    npb::Buffer<double> received_;
};

}  // namespace tare::hpl
