// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/tiling.hpp"

#include <span>

#include "npb/cg/tile_writer.hpp"

namespace tare::npb::cg {

namespace {

using product::Tile;

/// 16 kB of the product: it stays in the first cache beside a tile's part of the vector that is multiplied.
constexpr int most_rows = 2048;

int panels_for(int rows, int threads) {
    const int rows_of_round = most_rows * threads;
    return (rows + rows_of_round - 1) / rows_of_round * threads;
}

/// Sizes become places: each tile starts where those before it end. Returns the end of all.
Extent laid_out(std::span<Tile> tiles) {
    Extent next;
    for (Tile& tile : tiles) {
        const Extent size{.words = tile.first_word, .values = tile.first_value};
        tile.first_word = next.words;
        tile.first_value = next.values;
        next.words += size.words;
        next.values += size.values;
    }
    return next;
}

}  // namespace

/// The rows are made twice, first to count their entries: so the arrays are no longer than they must be.
TiledMatrix::TiledMatrix(Matrix& matrix, const GridShare& share, int threads)
    : rows_{share.rows()}, panels_{panels_for(rows_.count, threads)} {
    const ColumnTiles columns = column_tiles(share, matrix.order());
    own_tiles_ = columns.own_count;
    other_tiles_ = columns.starts.size() - own_tiles_;
    tiles_.resize(static_cast<std::size_t>(panels_) * columns.starts.size());
    for_each_panel(matrix, columns, [&](const Panel& panel, int index) { measure(panel, columns, index); });
    const Extent end = laid_out(tiles_);
    words_ = Buffer<std::uint32_t>{end.words + product::slack};
    values_ = Buffer<double>{end.values + product::slack};
    for_each_panel(matrix, columns, [&](const Panel& panel, int index) { fill(panel, index); });
}

template <typename Visit>
void TiledMatrix::for_each_panel(Matrix& matrix, const ColumnTiles& columns, const Visit& visit) const {
    for (int index = 0; index < panels_; ++index) {
        const Share<int> rows = panel_rows(index);
        visit(Panel{matrix, columns, {.first = rows_.first + rows.first, .count = rows.count}}, index);
    }
}

std::size_t TiledMatrix::number_of(int panel, std::size_t tile) const {
    const auto before = static_cast<std::size_t>(panel);
    const std::size_t own_end = static_cast<std::size_t>(panels_) * own_tiles_;
    return tile < own_tiles_ ? before * own_tiles_ + tile
                             : own_end + before * other_tiles_ + (tile - own_tiles_);
}

void TiledMatrix::measure(const Panel& panel, const ColumnTiles& columns, int index) {
    for (std::size_t tile = 0; tile < columns.starts.size(); ++tile) {
        const auto groups = panel.groups(tile);
        const Extent size = extent_of(groups);
        tiles_[number_of(index, tile)] = {.first_row = panel_rows(index).first,
                                          .first_column = columns.starts[tile],
                                          .groups = static_cast<int>(groups.size()),
                                          .first_word = size.words,
                                          .first_value = size.values};
    }
}

void TiledMatrix::fill(const Panel& panel, int index) {
    for (std::size_t tile = 0; tile < own_tiles_ + other_tiles_; ++tile) {
        const Tile& place = tiles_[number_of(index, tile)];
        TileWriter writer{words_.span().subspan(place.first_word), values_.span().subspan(place.first_value)};
        for (const Group& group : panel.groups(tile)) {
            writer.write(panel, tile, group);
        }
    }
}

Share<int> TiledMatrix::panel_rows(int panel) const { return share_of(rows_.count, panels_, panel); }

product::Tiles TiledMatrix::own_columns(int panel) const { return view(number_of(panel, 0), own_tiles_); }

product::Tiles TiledMatrix::other_columns(int panel) const {
    return view(number_of(panel, own_tiles_), other_tiles_);
}

product::Tiles TiledMatrix::view(std::size_t first, std::size_t count) const {
    return {.first = std::span{tiles_}.subspan(first).data(),
            .count = count,
            .words = words_.data(),
            .values = values_.data()};
}

std::size_t TiledMatrix::memory_byte() const {
    return words_.size() * sizeof(std::uint32_t) + values_.size() * sizeof(double);
}

}  // namespace tare::npb::cg
