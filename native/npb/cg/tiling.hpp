// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "npb/cg/partition.hpp"
#include "npb/cg/matrix.hpp"
#include "npb/cg/panel.hpp"
#include "npb/cg/product.hpp"
#include "npb/common/buffer.hpp"

namespace tare::npb::cg {

/// One rank's part of the matrix, every entry in memory, in the order in which the hot loop reads it: first
/// the columns of the rank's own piece, then those of the other pieces that it gathers; in both the rows
/// panel by panel, in each panel the columns tile by tile.
class TiledMatrix {
  public:
    /// The panels' number is a multiple of `threads`, so that each thread can have as many.
    TiledMatrix(Matrix& matrix, const GridShare& share, int threads);

    [[nodiscard]] int panels() const { return panels_; }
    /// The panel's rows; they count from the share's first.
    [[nodiscard]] Share<int> panel_rows(int panel) const;
    /// The panel's entries; columns are places in the gathered vector.
    [[nodiscard]] product::Tiles own_columns(int panel) const;
    [[nodiscard]] product::Tiles other_columns(int panel) const;

    /// Bytes of the entries' values and numbers.
    [[nodiscard]] std::size_t memory_byte() const;

  private:
    /// Calls `visit(panel, its number)`.
    template <typename Visit>
    void for_each_panel(Matrix& matrix, const ColumnTiles& columns, const Visit& visit) const;
    /// Where the panel's tile is in `tiles_`.
    [[nodiscard]] std::size_t number_of(int panel, std::size_t tile) const;
    /// Notes the tiles' sizes.
    void measure(const Panel& panel, const ColumnTiles& columns, int index);
    void fill(const Panel& panel, int index);
    [[nodiscard]] product::Tiles view(std::size_t first, std::size_t count) const;

    Share<int> rows_;
    int panels_;
    /// Tiles of a panel.
    std::size_t own_tiles_ = 0;
    std::size_t other_tiles_ = 0;
    std::vector<product::Tile> tiles_;
    Buffer<std::uint32_t> words_;
    Buffer<double> values_;
};

}  // namespace tare::npb::cg
