// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/panel.hpp"

#include <algorithm>
#include <numeric>

namespace tare::npb::cg {

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

}  // namespace

ColumnTiles column_tiles(const GridShare& share, int order) {
    ColumnTiles tiles{.places = share.gathered_places(order), .tile_of_place = {}, .starts = {}};
    cut(tiles, 0, share.own.count);
    tiles.own_count = tiles.starts.size();
    cut(tiles, share.own.count, share.gathered_count());
    return tiles;
}

Panel::Panel(Matrix& matrix, const ColumnTiles& columns, Share<int> rows)
    : tiles_{columns.starts.size()}, rows_{static_cast<std::size_t>(rows.count)} {
    for (int row = rows.first; row < rows.end(); ++row) {
        append(matrix.row(row), columns);
    }
}

void Panel::append(std::span<const Entry> row, const ColumnTiles& columns) {
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

std::vector<Group> Panel::groups(std::size_t tile) const {
    const auto length = [&](std::uint32_t row) { return entries(row, tile).size(); };
    std::vector<std::uint32_t> order(rows_);
    std::iota(order.begin(), order.end(), 0U);
    std::erase_if(order, [&](std::uint32_t row) { return length(row) == 0; });
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t left, std::uint32_t right) { return length(left) > length(right); });
    std::vector<Group> found;
    for (std::size_t first = 0; first < order.size(); first += product::lanes) {
        Group group{.rows = {},
                    .count = std::min<std::size_t>(product::lanes, order.size() - first),
                    .steps = static_cast<std::uint32_t>(length(order[first]))};
        for (std::size_t lane = 0; lane < product::lanes; ++lane) {
            group.rows.at(lane) = order[first + std::min(lane, group.count - 1)];
        }
        found.push_back(group);
    }
    return found;
}

}  // namespace tare::npb::cg
