// SPDX-License-Identifier: Apache-2.0
#include "npb/cg/partition.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>

namespace tare::npb::cg {

namespace {

/// The largest divisor not above the square root.
int grid_columns(int ranks) {
    int found = 1;
    for (int candidate = 2; candidate <= ranks / candidate; ++candidate) {
        found = ranks % candidate == 0 ? candidate : found;
    }
    return found;
}

}  // namespace

std::vector<int> GridShare::gathered_starts() const {
    std::vector<int> starts(column_pieces.size());
    int next = 0;
    for (std::size_t step = 0; step < starts.size(); ++step) {
        const auto index = (static_cast<std::size_t>(grid_row) + step) % starts.size();
        starts[index] = next;
        next += column_pieces[index].count;
    }
    return starts;
}

int GridShare::gathered_count() const {
    return std::accumulate(column_pieces.begin(), column_pieces.end(), 0,
                           [](int sum, const Share<int>& range) { return sum + range.count; });
}

std::vector<int> GridShare::gathered_places(int order) const {
    std::vector<int> places(static_cast<std::size_t>(order), -1);
    const auto starts = gathered_starts();
    for (std::size_t index = 0; index < starts.size(); ++index) {
        const auto first = places.begin() + column_pieces[index].first;
        std::iota(first, first + column_pieces[index].count, starts[index]);
    }
    return places;
}

GridShare grid_share_of(int order, int ranks, int rank) {
    const int columns = grid_columns(ranks);
    GridShare share{.grid_columns = columns,
                    .grid_row = rank / columns,
                    .grid_column = rank % columns,
                    .own = share_of(order, ranks, rank),
                    .row_pieces = {},
                    .column_pieces = {},
                    .has_parts = columns > 1};
    for (int column = 0; column < columns; ++column) {
        share.row_pieces.push_back(share_of(order, ranks, share.grid_row * columns + column));
    }
    for (int row = 0; row < ranks / columns; ++row) {
        share.column_pieces.push_back(share_of(order, ranks, row * columns + share.grid_column));
    }
    return share;
}

GridShare reference_share_of(int order, int ranks, int rank) {
    if (!std::has_single_bit(static_cast<unsigned>(ranks))) {
        throw WrongUse("the reference's messages need a number of ranks that is a power of two");
    }
    const int doublings = std::countr_zero(static_cast<unsigned>(ranks));
    const int rows = 1 << (doublings / 2);
    // A row's rows are as many as one or two columns' pieces: the pieces of as many neighbours stand in its
    // place.
    const int pieces = doublings % 2 == 0 ? 1 : 2;
    const int columns = std::max(1, rows * pieces);  // the analyzer does not see that it is not 0
    const int row = rank / columns;
    const int column = rank % columns;
    const int summed_piece = pieces * row + column % pieces;
    const Share<int> own = share_of(order, columns, column);
    return {.grid_columns = columns,
            .grid_row = row,
            .grid_column = column,
            .own = own,
            .row_pieces = {share_of(order, rows, row)},
            .column_pieces = {own},
            .summed = share_of(order, columns, summed_piece),
            .transposed_rank = column / pieces * columns + summed_piece,
            .has_parts = columns > 1};
}

}  // namespace tare::npb::cg
