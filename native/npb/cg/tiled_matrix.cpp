// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/tiled_matrix.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

namespace tare::npb::cg {

using product::lanes;
using product::Tile;

namespace {

/// 24 kB of the vector that is multiplied: half of a first cache of 48 kB, most of one of 32 kB.
constexpr int most_columns = 3072;

/// Adds the tiles of the places from `first` on, before `end`.
void cut(ColumnTiles& tiles, int first, int end) {
    const int count = (end - first + most_columns - 1) / most_columns;
    for (int tile = 0; tile < count; ++tile) {
        const auto start = [&](std::int64_t index) {
            return first + static_cast<int>(index * (end - first) / count);
        };
        tiles.tile_of_place.resize(static_cast<std::size_t>(start(tile + 1)), tiles.starts.size());
        tiles.starts.push_back(start(tile));
    }
}

constexpr unsigned half_bits = 16;

/// 16 kB of the product: it stays in the first cache beside a tile's part of the vector that is multiplied.
constexpr int most_rows = 2048;

int row_blocks_for(int rows, int threads) {
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

ColumnTiles column_tiles(const GridShare& share, int order) {
    ColumnTiles tiles{.places = share.gathered_places(order), .tile_of_place = {}, .starts = {}};
    cut(tiles, 0, share.own.count);
    tiles.own_count = tiles.starts.size();
    cut(tiles, share.own.count, share.gathered_count());
    return tiles;
}

RowBlock::RowBlock(Matrix& matrix, const ColumnTiles& columns, Share<int> rows)
    : tiles_{columns.starts.size()}, rows_{static_cast<std::size_t>(rows.count)} {
    for (int row = rows.first; row < rows.end(); ++row) {
        append(matrix.row(row), columns);
    }
}

void RowBlock::append(std::span<const Entry> row, const ColumnTiles& columns) {
    std::vector<std::size_t> next(tiles_ + 1, 0);
    for (const Entry& one : row) {
        const int place = columns.places[one.place];
        if (place >= 0) {
            ++next[columns.tile_of_place[static_cast<std::size_t>(place)] + 1];
        }
    }
    next[0] = entries_.size();
    std::partial_sum(next.begin(), next.end(), next.begin());
    starts_.insert(starts_.end(), next.begin() + 1, next.end());
    entries_.resize(next.back());
    for (const Entry& one : row) {
        const int place = columns.places[one.place];
        if (place >= 0) {
            const auto tile = columns.tile_of_place[static_cast<std::size_t>(place)];
            entries_[next[tile]++] = {.place = static_cast<std::uint32_t>(place - columns.starts[tile]),
                                      .value = one.value};
        }
    }
}

std::vector<Chunk> RowBlock::chunks(std::size_t tile) const {
    const auto length = [&](std::uint32_t row) { return entries(row, tile).size(); };
    std::vector<std::uint32_t> order(rows_);
    std::iota(order.begin(), order.end(), 0U);
    std::erase_if(order, [&](std::uint32_t row) { return length(row) == 0; });
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t left, std::uint32_t right) { return length(left) > length(right); });
    std::vector<Chunk> found;
    for (std::size_t first = 0; first < order.size(); first += product::lanes) {
        Chunk chunk{.rows = {},
                    .count = std::min<std::size_t>(product::lanes, order.size() - first),
                    .steps = static_cast<std::uint32_t>(length(order[first]))};
        for (std::size_t lane = 0; lane < product::lanes; ++lane) {
            chunk.rows.at(lane) = order[first + std::min(lane, chunk.count - 1)];
        }
        found.push_back(chunk);
    }
    return found;
}

Extent extent_of(const std::vector<Chunk>& chunks) {
    Extent extent;
    for (const Chunk& chunk : chunks) {
        const std::size_t steps = chunk.steps;
        extent.words += product::words_per_head + steps * product::words_per_step;
        extent.values += steps * lanes;
    }
    return extent;
}

template <typename Number>
void TileWriter::put_pairs(Number&& number) {
    for (std::size_t lane = 0; lane < lanes; lane += 2) {
        put(number(lane) | number(lane + 1) << half_bits);
    }
}

void TileWriter::write(const RowBlock& block, std::size_t tile, const Chunk& chunk) {
    std::array<std::span<const Entry>, lanes> rows;
    for (std::size_t lane = 0; lane < chunk.count; ++lane) {
        rows.at(lane) = block.entries(chunk.rows.at(lane), tile);
    }
    put(chunk.steps);
    put_pairs([&](std::size_t lane) { return chunk.rows.at(lane); });
    for (std::size_t step = 0; step < chunk.steps; ++step) {
        const auto entry = [&](std::size_t lane) {
            return step < rows.at(lane).size() ? rows.at(lane)[step] : Entry{.place = 0, .value = 0};
        };
        put_pairs([&](std::size_t lane) { return entry(lane).place; });
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            values_[next_value_++] = entry(lane).value;
        }
    }
}

/// The rows are made twice, first to count their entries: so the arrays are no longer than they must be.
TiledMatrix::TiledMatrix(Matrix& matrix, const GridShare& share, int threads)
    : rows_{share.rows()}, row_blocks_{row_blocks_for(rows_.count, threads)} {
    const ColumnTiles columns = column_tiles(share, matrix.order());
    own_tiles_ = columns.own_count;
    other_tiles_ = columns.starts.size() - own_tiles_;
    tiles_.resize(static_cast<std::size_t>(row_blocks_) * columns.starts.size());
    for_each_block(matrix, columns,
                   [&](const RowBlock& block, int index) { measure(block, columns, index); });
    const Extent end = laid_out(tiles_);
    words_ = Buffer<std::uint32_t>{end.words + product::slack};
    values_ = Buffer<double>{end.values + product::slack};
    for_each_block(matrix, columns, [&](const RowBlock& block, int index) { fill(block, index); });
}

template <typename Visit>
void TiledMatrix::for_each_block(Matrix& matrix, const ColumnTiles& columns, const Visit& visit) const {
    for (int index = 0; index < row_blocks_; ++index) {
        const Share<int> rows = block_rows(index);
        visit(RowBlock{matrix, columns, {.first = rows_.first + rows.first, .count = rows.count}}, index);
    }
}

std::size_t TiledMatrix::number_of(int block, std::size_t tile) const {
    const auto before = static_cast<std::size_t>(block);
    const std::size_t own_end = static_cast<std::size_t>(row_blocks_) * own_tiles_;
    return tile < own_tiles_ ? before * own_tiles_ + tile
                             : own_end + before * other_tiles_ + (tile - own_tiles_);
}

void TiledMatrix::measure(const RowBlock& block, const ColumnTiles& columns, int index) {
    for (std::size_t tile = 0; tile < columns.starts.size(); ++tile) {
        const auto chunks = block.chunks(tile);
        const Extent size = extent_of(chunks);
        tiles_[number_of(index, tile)] = {.first_row = block_rows(index).first,
                                          .first_column = columns.starts[tile],
                                          .chunks = static_cast<int>(chunks.size()),
                                          .first_word = size.words,
                                          .first_value = size.values};
    }
}

void TiledMatrix::fill(const RowBlock& block, int index) {
    for (std::size_t tile = 0; tile < own_tiles_ + other_tiles_; ++tile) {
        const Tile& place = tiles_[number_of(index, tile)];
        TileWriter writer{words_.span().subspan(place.first_word), values_.span().subspan(place.first_value)};
        for (const Chunk& chunk : block.chunks(tile)) {
            writer.write(block, tile, chunk);
        }
    }
}

Share<int> TiledMatrix::block_rows(int block) const { return share_of(rows_.count, row_blocks_, block); }

product::Tiles TiledMatrix::own_columns(int block) const { return view(number_of(block, 0), own_tiles_); }

product::Tiles TiledMatrix::other_columns(int block) const {
    return view(number_of(block, own_tiles_), other_tiles_);
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
