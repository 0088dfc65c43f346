// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "npb/cg/matrix.hpp"
#include "npb/cg/partition.hpp"
#include "npb/cg/product.hpp"
#include "npb/common/buffer.hpp"

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
struct Chunk {
    /// In the row block. The last chunk of a tile repeats its last row from `count` on.
    std::array<std::uint32_t, product::lanes> rows{};
    std::size_t count = 0;
    /// Entries of the longest row.
    std::uint32_t steps = 0;
};

/// Some rows of a share, their entries sorted by tile.
class RowBlock {
  public:
    RowBlock(Matrix& matrix, const ColumnTiles& columns, Share<int> rows);

    /// The row's entries in the tile; their places count from the tile's first.
    [[nodiscard]] std::span<const Entry> entries(std::size_t row, std::size_t tile) const {
        const std::size_t index = row * tiles_ + tile;
        return std::span{entries_}.subspan(starts_[index], starts_[index + 1] - starts_[index]);
    }
    /// The tile's rows that have entries, the longest first, so that a chunk's rows are about equally long.
    [[nodiscard]] std::vector<Chunk> chunks(std::size_t tile) const;

  private:
    void append(std::span<const Entry> row, const ColumnTiles& columns);

    std::size_t tiles_;
    std::size_t rows_;
    std::vector<Entry> entries_;
    std::vector<std::size_t> starts_{0};
};

/// Words and values of a tile (see `product::Tile`): how many, or where they begin.
struct Extent {
    std::size_t words = 0;
    std::size_t values = 0;
};

[[nodiscard]] Extent extent_of(const std::vector<Chunk>& chunks);

/// Writes the words and values of one tile, which begin where the spans do.
class TileWriter {
  public:
    TileWriter(std::span<std::uint32_t> words, std::span<double> values) : words_{words}, values_{values} {}

    void write(const RowBlock& block, std::size_t tile, const Chunk& chunk);

  private:
    void put(std::uint32_t word) { words_[next_word_++] = word; }
    template <typename Number>
    void put_pairs(Number&& number);

    std::span<std::uint32_t> words_;
    std::span<double> values_;
    std::size_t next_word_ = 0;
    std::size_t next_value_ = 0;
};

/// One rank's part of the matrix, every entry in memory, in the order in which the hot loop reads it: first
/// the columns of the rank's own piece, then of the other pieces that it gathers; in both the rows
/// row block by row block, in each row block the columns tile by tile.
class TiledMatrix {
  public:
    /// The row blocks' number is a multiple of `threads`, so that each thread can have as many.
    TiledMatrix(Matrix& matrix, const GridShare& share, int threads);

    [[nodiscard]] int row_blocks() const { return row_blocks_; }
    /// The row block's rows; they count from the share's first.
    [[nodiscard]] Share<int> block_rows(int block) const;
    /// The row block's entries; columns are places in the gathered vector.
    [[nodiscard]] product::Tiles own_columns(int block) const;
    [[nodiscard]] product::Tiles other_columns(int block) const;

    /// Bytes of the entries' values and numbers.
    [[nodiscard]] std::size_t memory_byte() const;

  private:
    /// Calls `visit(row block, its number)`.
    template <typename Visit>
    void for_each_block(Matrix& matrix, const ColumnTiles& columns, const Visit& visit) const;
    /// Where the row block's tile is in `tiles_`.
    [[nodiscard]] std::size_t number_of(int block, std::size_t tile) const;
    /// Notes the tiles' sizes.
    void measure(const RowBlock& block, const ColumnTiles& columns, int index);
    void fill(const RowBlock& block, int index);
    [[nodiscard]] product::Tiles view(std::size_t first, std::size_t count) const;

    Share<int> rows_;
    int row_blocks_;
    /// Tiles of a row block.
    std::size_t own_tiles_ = 0;
    std::size_t other_tiles_ = 0;
    std::vector<product::Tile> tiles_;
    Buffer<std::uint32_t> words_;
    Buffer<double> values_;
};

}  // namespace tare::npb::cg
