// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "npb/common/share.hpp"

namespace tare::npb::cg {

/// What one rank holds. The ranks stand in a grid as near to a square as their number allows (a prime number
/// of them in one column), in row-major order. Every vector is cut into one piece per rank, in rank order. A
/// rank multiplies the matrix rows of its grid row's pieces by the matrix columns of its grid column's
/// pieces: so that it gathers the vector in its grid column alone, and sums the product in its grid row
/// alone, and no piece has to change its place between two products.
struct GridShare {
    int grid_row = 0;
    int grid_column = 0;
    /// The piece of each vector that is this rank's.
    Share<int> own;
    /// The matrix rows: the pieces of the grid row, by grid column.
    std::vector<Share<int>> row_pieces;
    /// The matrix columns: the pieces of the grid column, by grid row.
    std::vector<Share<int>> column_pieces;

    [[nodiscard]] Share<int> rows() const {
        const int first = row_pieces.front().first;
        return {.first = first, .count = row_pieces.back().end() - first};
    }
    /// Where each of `column_pieces` lies in the gathered vector: the own piece at the front, those of the
    /// next grid rows behind it, around to the previous one.
    [[nodiscard]] std::vector<int> gathered_starts() const;
    /// The length of the gathered vector.
    [[nodiscard]] int gathered_count() const;
    /// Each matrix column's place in the gathered vector, -1 for those that other ranks multiply by.
    [[nodiscard]] std::vector<int> gathered_places(int order) const;
};

[[nodiscard]] GridShare grid_share_of(int order, int ranks, int rank);

}  // namespace tare::npb::cg
