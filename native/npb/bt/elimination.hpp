// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "npb/bt/jacobians.hpp"

// Gaussian elimination of 5x5 blocks without pivoting (the blocks are diagonally dominant), each vector lane
// a line of its own. All loops unroll, so that a block stays in registers.
// Vectors need plain pointers and arrays.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)
namespace tare::npb::bt::TARE_NPB_SIMD {

/// L and U of a block in one matrix; the diagonal holds the pivots' inverses.
[[gnu::always_inline]] inline void factorise(Matrix& block) {
#pragma GCC unroll 5
    for (int pivot = 0; pivot < size; ++pivot) {
        block.at[pivot][pivot] = 1.0 / block.at[pivot][pivot];
#pragma GCC unroll 5
        for (int row = pivot + 1; row < size; ++row) {
            block.at[row][pivot] *= block.at[pivot][pivot];
#pragma GCC unroll 5
            for (int column = pivot + 1; column < size; ++column) {
                block.at[row][column] -= block.at[row][pivot] * block.at[pivot][column];
            }
        }
    }
}

/// right := block^-1 right, for a block that `factorise` has treated.
[[gnu::always_inline]] inline void solve(const Matrix& block, Vector (&right)[size]) {
#pragma GCC unroll 5
    for (int row = 1; row < size; ++row) {
#pragma GCC unroll 5
        for (int column = 0; column < row; ++column) {
            right[row] -= block.at[row][column] * right[column];
        }
    }
#pragma GCC unroll 5
    for (int row = size - 1; row >= 0; --row) {
#pragma GCC unroll 5
        for (int column = row + 1; column < size; ++column) {
            right[row] -= block.at[row][column] * right[column];
        }
        right[row] *= block.at[row][row];
    }
}

/// What elimination keeps of a place: its own unknowns = right - next * (the next place's unknowns).
/// `values` are kept * lanes doubles: the rows of `next`, then `right`.
struct Kept {
    double* values;

    [[nodiscard, gnu::always_inline]] double* next(int row, int column) const {
        return values + (std::ptrdiff_t{row} * size + column) * lanes;
    }
    [[nodiscard, gnu::always_inline]] double* right(int row) const {
        return values + (std::ptrdiff_t{size} * size + row) * lanes;
    }
};

/// A place's own block, by `own` of `set_couplings`.
[[gnu::always_inline]] inline void set_block(const Matrix& own, Matrix& block) {
#pragma GCC unroll 5
    for (int row = 0; row < size; ++row) {
#pragma GCC unroll 5
        for (int column = 0; column < size; ++column) {
            block.at[row][column] =
                is_viscous(row, column) ? own.at[row][column] + own.at[row][column] : Vector{};
        }
        block.at[row][row] += 1.0;
    }
}

/// Takes the unknowns of the place before out of a place's equation, of which `block` and `right` change.
/// `after` is that of `set_couplings` at the place before.
template <int normal>
[[gnu::always_inline]] inline void eliminate_before(const Matrix& after, const Kept& before, Matrix& block,
                                                    Vector (&right)[size]) {
#pragma GCC unroll 25
    for (int entry = 0; entry < size * size; ++entry) {
        const int row = entry / size;
        const int inner = entry % size;
        if (is_coupled(normal, row, inner)) {
#pragma GCC unroll 5
            for (int column = 0; column < size; ++column) {
                block.at[row][column] += after.at[row][inner] * load(before.next(inner, column));
            }
            right[row] += after.at[row][inner] * load(before.right(inner));
        }
    }
}

/// Solves a place's equation for its own unknowns. `before`: how the next place's enter.
[[gnu::always_inline]] inline void keep(Matrix& block, const Matrix& before, Vector (&right)[size],
                                        const Kept& kept) {
    factorise(block);
#pragma GCC unroll 5
    for (int column = 0; column < size; ++column) {
        Vector next[size];
#pragma GCC unroll 5
        for (int row = 0; row < size; ++row) {
            next[row] = before.at[row][column];
        }
        solve(block, next);
#pragma GCC unroll 5
        for (int row = 0; row < size; ++row) {
            store(kept.next(row, column), next[row]);
        }
    }
    solve(block, right);
#pragma GCC unroll 5
    for (int row = 0; row < size; ++row) {
        store(kept.right(row), right[row]);
    }
}

}  // namespace tare::npb::bt::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)
