// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "slices/pieces.hpp"

namespace tare::slices {

namespace {

constexpr std::size_t order = 48;
/// Columns whose sums are kept in registers at a time: so many chains of additions that do not wait for each
/// other.
constexpr std::size_t columns = 8;
static_assert(order % columns == 0);

using Row = std::array<double, order>;
using Matrix = std::array<Row, order>;

/// A part of a row of `product`.
void multiply_part(const Row& left, const Matrix& right, Row& product, std::size_t first) {
    std::array<double, columns> sums{};
    for (std::size_t inner = 0; inner < order; ++inner) {
        for (std::size_t column = 0; column < columns; ++column) {
            sums[column] += left[inner] * right[inner][first + column];  // NOLINT(*-constant-array-index)
        }
    }
    for (std::size_t column = 0; column < columns; ++column) {
        product[first + column] = sums[column];  // NOLINT(*-constant-array-index)
    }
}

void multiply(const Matrix& left, const Matrix& right, Matrix& product) {
    for (std::size_t row = 0; row < order; ++row) {
        for (std::size_t first = 0; first < order; first += columns) {
            multiply_part(left.at(row), right, product.at(row), first);
        }
    }
}

/// I - 2 v v' of a unit vector v (Householder): orthogonal, so that a matrix keeps its size under it for
/// ever.
Matrix reflection() {
    Matrix matrix{};
    const double share = 2.0 / static_cast<double>(order);  // each v_i is 1 / sqrt(order)
    for (std::size_t row = 0; row < order; ++row) {
        matrix.at(row).fill(-share);
        matrix.at(row).at(row) += 1.0;
    }
    return matrix;
}

class Compute final : public Piece {
  public:
    void work(std::uint64_t count) override {
        fill();
        for (std::uint64_t unit = 0; unit < count; ++unit) {
            multiply(matrices_.at(unit % 2), factor_, matrices_.at(1 - unit % 2));
        }
        last_ = count % 2;
    }

    [[nodiscard]] std::uint64_t checksum() const override {
        double sum = 0.0;
        for (const Row& row : matrices_.at(last_)) {
            sum = std::accumulate(row.begin(), row.end(), sum);
        }
        return std::bit_cast<std::uint64_t>(sum);
    }

  private:
    /// The same at the start of every slice; a 48th of a unit of work.
    void fill() {
        for (std::size_t row = 0; row < order; ++row) {
            for (std::size_t column = 0; column < order; ++column) {
                matrices_.front().at(row).at(column) = 1.0 / static_cast<double>(1 + row + column);
            }
        }
    }

    Matrix factor_ = reflection();
    std::array<Matrix, 2> matrices_{};
    std::size_t last_ = 0;
};

}  // namespace

std::unique_ptr<Piece> make_compute() { return std::make_unique<Compute>(); }

}  // namespace tare::slices
