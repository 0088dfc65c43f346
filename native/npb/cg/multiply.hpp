// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "npb/cg/exchange.hpp"
#include "npb/cg/product.hpp"
#include "npb/cg/tiled_matrix.hpp"
#include "npb/common/team.hpp"
#include "npb/common/timing.hpp"

namespace tare::npb::cg {

/// The parts of the timed region: the rank's own matrix times vector; what the ranks tell each other; the
/// vectors' updates and dot products.
enum class Part { multiply, exchange, update };

using PartTimes = Phases<Part, 3>;

/// The matrix that all ranks hold together, times a vector.
class Multiply {
  public:
    Multiply(Matrix& matrix, const GridShare& share, Exchange& exchange, Team& team, Simd simd);

    /// The own piece of A p. The own piece of p is at the front of `gathered`, behind which the others'
    /// pieces are brought.
    void operator()(std::span<double> gathered, std::span<double> own_product, PartTimes& times);

    /// How many were made.
    [[nodiscard]] int products() const { return products_; }

  private:
    /// Calls `work(row block, thread)` for all row blocks.
    template <typename Work>
    void for_each_block(const Work& work);
    void start_rows(std::span<const double> gathered, std::span<double> rows);
    void finish_rows(std::span<const double> gathered, std::span<double> rows);

    TiledMatrix matrix_;
    Exchange* exchange_;
    Team* team_;
    product::Functions functions_;
    bool has_others_;
    /// This rank's part of the grid row's product, where there are several parts.
    Buffer<double> part_;
    int products_ = 0;
};

}  // namespace tare::npb::cg
