// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tare::npb::cg {

/// A place of a vector and its value; places without an entry hold zero.
struct Entry {
    std::uint32_t place;
    double value;
};

/// Sparse vectors, one behind the other.
class SparseVectors {
  public:
    [[nodiscard]] std::size_t count() const { return ends_.size() - 1; }
    [[nodiscard]] std::span<const Entry> operator[](std::size_t index) const {
        return std::span{entries_}.subspan(ends_[index], ends_[index + 1] - ends_[index]);
    }

    void reserve(std::size_t vectors, std::size_t entries);
    void append(std::span<const Entry> vector);

    /// Entry (place, value) of vector i becomes entry (i, value) of vector `place`, of `count` vectors.
    [[nodiscard]] SparseVectors transposed(std::size_t count) const;

  private:
    std::vector<Entry> entries_;
    /// Where each vector ends; the first number is the start of all.
    std::vector<std::size_t> ends_{0};
};

/// As many random vectors as they are long: `drawn` distinct random places with random values each, but 0.5
/// at vector i's own place i. One rank's random sequence (NAS-95-020, section 2.5), so that all ranks draw
/// all.
[[nodiscard]] SparseVectors random_vectors(int order, int drawn);

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
