// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "npb/common/arguments.hpp"
#include "npb/common/share.hpp"

namespace tare::npb::cg {

/// What one rank holds. The ranks stand in a grid as near to a square as their number allows (a prime number
/// of them in one column), in row-major order. Every vector is cut into one piece per rank, in rank order. A
/// rank multiplies the matrix rows of its grid row's pieces by the matrix columns of its grid column's
/// pieces: so that it gathers the vector in its grid column alone, and sums the product in its grid row
/// alone, and no piece has to change its place between two products.
struct GridShare {
    int grid_columns = 1;
    int grid_row = 0;
    int grid_column = 0;
    /// The piece of each vector that is this rank's.
    Share<int> own;
    /// The matrix rows: the pieces of the grid row, by grid column (for the reference's messages in one).
    std::vector<Share<int>> row_pieces;
    /// The matrix columns: the pieces of the grid column, by grid row.
    std::vector<Share<int>> column_pieces;

    /// For the reference's messages: of the rows, those whose sums this rank has in the end; and the rank
    /// that needs them, and has the sums of this rank's own piece.
    Share<int> summed{};
    int transposed_rank = 0;
    /// The grid row has other ranks, whose part of the product is missing in this rank's.
    bool has_parts = false;

    /// The grid column has other ranks, whose pieces of the vector this rank multiplies by.
    [[nodiscard]] bool has_others() const { return column_pieces.size() > 1; }
    [[nodiscard]] Share<int> rows() const {
        const int first = row_pieces.front().first;
        return {.first = first, .count = row_pieces.back().end() - first};
    }
    /// Where each of `column_pieces` lies in the gathered vector: the own piece at the front, the next grid
    /// rows' behind it, around to the previous one.
    [[nodiscard]] std::vector<int> gathered_starts() const;
    /// The length of the gathered vector.
    [[nodiscard]] int gathered_count() const;
    /// Each matrix column's place in the gathered vector, -1 for those that other ranks multiply by.
    [[nodiscard]] std::vector<int> gathered_places(int order) const;
};

[[nodiscard]] GridShare grid_share_of(int order, int ranks, int rank);

/// The same for the reference's messages (NAS-02-007): the grid has 2^k rows, and as many columns or twice as
/// many. Every vector is cut into one piece per grid column, of which all ranks of the column hold a copy: so
/// that nothing is gathered before a product, but much more is added up after it (see `PairwiseExchange`).
/// Throws `WrongUse` unless `ranks` is a power of two.
[[nodiscard]] GridShare reference_share_of(int order, int ranks, int rank);

[[nodiscard]] inline GridShare share_for(Messages messages, int order, int ranks, int rank) {
    return messages == Messages::own ? grid_share_of(order, ranks, rank)
                                     : reference_share_of(order, ranks, rank);
}

}  // namespace tare::npb::cg
