// SPDX-License-Identifier: Apache-2.0
// The hot loop of CG: a sparse matrix in tiles times a vector. Each value is used once, so that the matrix
// goes by at the speed of memory, if it is asked for early enough: beside reads of random places the
// processor does not see by itself that it is read in order. Vectors are picked together from single reads:
// the processors' own gather instructions are slower, or not faster.
#include "npb/cg/product.hpp"

#include "npb/common/vector_width.hpp"

namespace tare::npb::cg::product::TARE_NPB_SIMD {

namespace {

// The pointers move through the arrays in step with each other.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-pointer-arithmetic, cppcoreguidelines-avoid-c-arrays,
// modernize-avoid-c-arrays, cppcoreguidelines-pro-bounds-constant-array-index)

constexpr int width = vector_doubles;
constexpr int parts = lanes / width;

using Vector [[gnu::vector_size(width * sizeof(double)), gnu::may_alias]] = double;

constexpr std::uint32_t low_half = 0xffff;
constexpr int half_bits = 16;
/// How far ahead the matrix is asked for, in values and in words; both within `slack`.
constexpr std::size_t ahead = slack;

[[gnu::always_inline]] inline std::uint32_t even(std::uint32_t word) { return word & low_half; }
[[gnu::always_inline]] inline std::uint32_t odd(std::uint32_t word) { return word >> half_bits; }

/// The places of the vector that the words name; `Picked` is always `Vector`, whose length picks the branch.
template <typename Picked>
[[gnu::always_inline]] inline void pick(const double* vector, const std::uint32_t* word, Picked& picked) {
    constexpr std::size_t count = sizeof(Picked) / sizeof(double);
    if constexpr (count == 2) {
        picked = Picked{vector[even(word[0])], vector[odd(word[0])]};
    } else if constexpr (count == 4) {
        picked =
            Picked{vector[even(word[0])], vector[odd(word[0])], vector[even(word[1])], vector[odd(word[1])]};
    } else {
        picked =
            Picked{vector[even(word[0])], vector[odd(word[0])], vector[even(word[1])], vector[odd(word[1])],
                   vector[even(word[2])], vector[odd(word[2])], vector[even(word[3])], vector[odd(word[3])]};
    }
}

/// One entry of each lane's row.
[[gnu::always_inline]] inline void add_step(const std::uint32_t* word, const double* value,
                                            const double* vector, Vector (&sums)[parts]) {
    for (int part = 0; part < parts; ++part) {
        Vector picked;
        pick(vector, word + part * (width / 2), picked);
        sums[part] += *reinterpret_cast<const Vector*>(value + part * width) * picked;
    }
}

[[gnu::always_inline]] inline void add_to_rows(const std::uint32_t* rows, const Vector (&sums)[parts],
                                               double* product) {
    for (int lane = 0; lane < lanes; lane += 2) {
        const std::uint32_t word = rows[lane / 2];
        product[even(word)] += sums[lane / width][lane % width];
        product[odd(word)] += sums[(lane + 1) / width][(lane + 1) % width];
    }
}

void add_tile(const Tile& tile, const std::uint32_t* word, const double* value, const double* vector,
              double* product) {
    for (int chunk = 0; chunk < tile.chunks; ++chunk) {
        const std::uint32_t* const rows = word + 1;
        Vector sums[parts] = {};
        std::uint32_t steps = *word;
        word += words_per_head;
        for (; steps > 0; --steps) {
            __builtin_prefetch(value + ahead);
            __builtin_prefetch(word + ahead);
            add_step(word, value, vector, sums);
            value += lanes;
            word += words_per_step;
        }
        add_to_rows(rows, sums, product);
    }
}

void add(const Tiles& tiles, const double* vector, double* product) {
    for (std::size_t index = 0; index < tiles.count; ++index) {
        const Tile& tile = tiles.first[index];
        add_tile(tile, tiles.words + tile.first_word, tiles.values + tile.first_value,
                 vector + tile.first_column, product + tile.first_row);
    }
}

// NOLINTEND(cppcoreguidelines-pro-bounds-pointer-arithmetic, cppcoreguidelines-avoid-c-arrays,
// modernize-avoid-c-arrays, cppcoreguidelines-pro-bounds-constant-array-index)

}  // namespace

Functions functions() { return {.add = add}; }

}  // namespace tare::npb::cg::product::TARE_NPB_SIMD
