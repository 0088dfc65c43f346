// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "npb/cg/exchange.hpp"
#include "npb/cg/parts.hpp"
#include "npb/cg/product.hpp"
#include "npb/cg/tiling.hpp"
#include "npb/common/team.hpp"

namespace tare::npb::cg {

/// The matrix that all ranks hold together, times a vector.
class Multiply {
  public:
    Multiply(Matrix& matrix, const GridShare& share, Exchange& exchange, Team& team, Simd simd);

    /// The own piece of A p. The own piece of p is at the front of `gathered`, behind which the others'
    /// pieces are brought.
    void operator()(std::span<double> gathered, std::span<double> own_product, PartTimes& times);

  private:
    /// Calls `work(panel, thread)` for all panels.
    template <typename Work>
    void for_each_panel(const Work& work);
    void start_rows(std::span<const double> gathered, std::span<double> rows);
    void finish_rows(std::span<const double> gathered, std::span<double> rows);

    TiledMatrix matrix_;
    Exchange* exchange_;
    Team* team_;
    product::Functions functions_;
    bool has_others_;
    /// This rank's part of the grid row's product, where there are several parts.
    Buffer<double> part_;
};

}  // namespace tare::npb::cg
