// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "npb/cg/vectors.hpp"

namespace tare::npb::cg {

/// What a matrix is made from; see `Class` for each.
struct Recipe {
    int order;
    int drawn;
    double shift;
};

/// The matrix of CG, made row by row: the sum of the random vectors' outer products w_i v_i v_i^T, with
/// weights that fall evenly (as a geometric series) from 1 to 0.1, and of (0.1 - shift) I (NAS-95-020,
/// section 2.5).
class Matrix {
  public:
    explicit Matrix(const Recipe& recipe);

    [[nodiscard]] int order() const { return recipe_.order; }

    /// The row's entries that are not zero, in no order of their columns but always the same; they hold until
    /// the next call. The matrix is symmetric to the last bit, whichever rank makes which rows.
    [[nodiscard]] std::span<const Entry> row(int index);

  private:
    void add(std::uint32_t column, double value);

    Recipe recipe_;
    SparseVectors vectors_;
    /// By place: the vectors that have an entry there.
    SparseVectors holders_;
    std::vector<double> weights_;
    /// Of the row in work: its sums by column, and the columns that have one.
    std::vector<double> sums_;
    std::vector<std::uint32_t> columns_;
    std::vector<Entry> row_;
};

}  // namespace tare::npb::cg
