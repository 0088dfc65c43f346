// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "npb/cg/partition.hpp"
#include "npb/cg/matrix.hpp"
#include "npb/cg/product.hpp"

namespace tare::npb::cg {

/// The columns of a share in tiles of nearly equal width, none across the end of the own piece.
struct ColumnTiles {
    /// By matrix column: its place in the gathered vector, or -1; by place: its tile.
    std::vector<int> places;
    std::vector<std::size_t> tile_of_place;
    /// Each tile's first place.
    std::vector<int> starts;
    /// So many of the tiles are of the own piece.
    std::size_t own_count = 0;
};

[[nodiscard]] ColumnTiles column_tiles(const GridShare& share, int order);

/// Rows of one tile that are multiplied side by side.
struct Group {
    /// In the panel. The last group of a tile repeats its last row from `count` on.
    std::array<std::uint32_t, product::lanes> rows{};
    std::size_t count = 0;
    /// Entries of the longest row.
    std::uint32_t steps = 0;
};

/// Some rows of a share, their entries sorted by tile.
class Panel {
  public:
    Panel(Matrix& matrix, const ColumnTiles& columns, Share<int> rows);

    /// The row's entries in the tile; their places count from the tile's first.
    [[nodiscard]] std::span<const Entry> entries(std::size_t row, std::size_t tile) const {
        const std::size_t index = row * tiles_ + tile;
        return std::span{entries_}.subspan(starts_[index], starts_[index + 1] - starts_[index]);
    }
    /// The tile's rows that have entries, the longest first, so that those of a group are about equally long.
    [[nodiscard]] std::vector<Group> groups(std::size_t tile) const;

  private:
    void append(std::span<const Entry> row, const ColumnTiles& columns);

    std::size_t tiles_;
    std::size_t rows_;
    std::vector<Entry> entries_;
    std::vector<std::size_t> starts_{0};
};

}  // namespace tare::npb::cg
