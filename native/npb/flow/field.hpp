// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "npb/common/buffer.hpp"
#include "npb/flow/block.hpp"
#include "npb/flow/view.hpp"

namespace tare::npb::flow {

/// Places of a row rounded up to what rows are stored in.
[[nodiscard]] constexpr int whole_vectors(int places) {
    return (places + row_alignment - 1) / row_alignment * row_alignment;
}

/// The components of one point.
using Point = std::array<double, components>;

/// Five components on a rank's block, with `ghosts` layers around it or none: in y and z, and in x where the
/// block's rows are split; see `View` for the layout. Zero at first.
class Field {
  public:
    enum class Border { none, ghosts };

    Field(const Block& block, Border border);

    [[nodiscard]] const Block& block() const { return block_; }
    /// Layers around the block in y and z: 0 or `ghost_layers`.
    [[nodiscard]] int border() const { return border_; }
    /// And before and after each row.
    [[nodiscard]] int border_x() const { return block_.is_split_x() ? border_ : 0; }
    [[nodiscard]] View<double> view();
    [[nodiscard]] View<const double> view() const;

    [[nodiscard]] Point point(int z, int y, int x) const;
    void set_point(int z, int y, int x, const Point& values);

    /// Some planes (ghosts have z below 0, or from the block's count on) with all that is in them: also the
    /// room between rows, which vectors run over, must hold numbers that the arithmetic bears.
    void fill(const Point& values, const Share<int>& planes);

  private:
    /// Doubles before the first component at (0, 0, 0).
    [[nodiscard]] std::ptrdiff_t offset() const;
    [[nodiscard]] std::size_t index(int z, int y, int x, int component) const;

    Block block_;
    int border_;
    std::ptrdiff_t component_;
    std::ptrdiff_t row_;
    std::ptrdiff_t plane_;
    Buffer<double> values_;
};

}  // namespace tare::npb::flow
