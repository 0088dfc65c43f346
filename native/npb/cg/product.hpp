// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "npb/common/simd.hpp"

namespace tare::npb::cg::product {

/// Matrix rows that are multiplied side by side.
constexpr int lanes = 8;
/// Words of 32 bit that hold one number for each lane: the lower half of a word is that of the even lane.
constexpr int words_per_step = lanes / 2;
/// Words that come before a chunk's steps: how many steps, and each lane's row in the tile.
constexpr int words_per_head = 1 + words_per_step;
/// Zeros behind the last word and the last value, so that reading ahead stays inside of the arrays.
constexpr std::size_t slack = 1024;

/// The matrix entries of some rows in some columns, both few enough that 16 bit number them and that the
/// first cache holds the parts of the vectors that they meet. Each tile is stored in the format SELL-C-sigma
/// (C is `lanes`, rows are sorted in the whole tile): chunks of `lanes` rows that are about equally
/// long lie one behind the other, step after step: a step is one entry of each of the chunk's rows, its
/// column (in the tile) among the words and its value among the values. A row that is shorter than its
/// chunk's first is filled up with zeros.
struct Tile {
    int first_row;
    int first_column;
    int chunks;
    std::size_t first_word;
    std::size_t first_value;
};

struct Tiles {
    const Tile* first;
    std::size_t count;
    const std::uint32_t* words;
    const double* values;
};

struct Functions {
    /// Adds to `product` that of the tiles' part of a matrix and of `vector`.
    void (*add)(const Tiles& tiles, const double* vector, double* product);
};

TARE_NPB_VARIANTS(Functions)

}  // namespace tare::npb::cg::product
