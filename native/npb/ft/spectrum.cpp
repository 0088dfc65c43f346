// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/spectrum.hpp"

#include <algorithm>
#include <array>

namespace tare::npb::ft {

namespace {

/// As many blocks as leave three quarters of a second cache of 512 KiB free, where the next tile's data come
/// in.
int blocks_of_tile(const Edges& edges) {
    constexpr std::ptrdiff_t work_doubles = std::ptrdiff_t{1} << 14U;
    return static_cast<int>(
        std::clamp(work_doubles / (y_radix * edges.z * block_doubles), std::ptrdiff_t{1}, group_blocks));
}

}  // namespace

Spectrum::Spectrum(const Decomposition& decomposition, Simd simd, bool is_streamed, int threads)
    : decomposition_{decomposition},
      functions_{functions(simd)},
      is_streamed_{is_streamed},
      tile_blocks_{blocks_of_tile(decomposition.edges)},
      tiles_of_butterfly_{(decomposition.blocks().count + tile_blocks_ - 1) / tile_blocks_},
      memory_{static_cast<std::size_t>(tiles() * tile_doubles())} {
    for (int thread = 0; thread < threads; ++thread) {
        work_.emplace_back(static_cast<std::size_t>(y_radix * (decomposition.edges.z + 1) *
                                                    work_element_doubles(tile_blocks_)));
    }
    for (int z = 0; z < decomposition.edges.z; ++z) {
        planes_.push_back(memory_.data() + z * plane_doubles());
    }
}

void Spectrum::make_tables() {
    plan_.emplace(decomposition_.edges.z);
    row_twiddle_.clear();
    for (int butterfly = 0; butterfly < decomposition_.all_butterflies(); ++butterfly) {
        for (int row = 0; row < y_radix; ++row) {
            const auto root = root_of_unity(std::int64_t{butterfly} * row, decomposition_.edges.y);
            row_twiddle_.push_back(root.real());
            row_twiddle_.push_back(root.imag());
        }
    }
}

Pencils Spectrum::side(int tile) {
    return {.element = planes_.data(), .start_doubles = tile * tile_doubles()};
}

int Spectrum::blocks_of(int tile) const {
    return std::min(tile_blocks_, decomposition_.blocks().count - first_block(tile));
}

YzTile Spectrum::work_on(int thread, int tile) {
    const std::ptrdiff_t butterfly = decomposition_.butterflies().first + butterfly_of(tile);
    return {.line = &plan_->line(),
            .row_twiddle = row_twiddle_.data() + butterfly * 2 * y_radix,
            .blocks = blocks_of(tile),
            .is_streamed = is_streamed_,
            .work = work_[static_cast<std::size_t>(thread)].data()};
}

Prefetch Spectrum::prefetch_after(const YzTile& butterfly, int next, std::ptrdiff_t follower_doubles) const {
    if (next >= tiles()) {
        return {};
    }
    return {.element = butterfly.from.element,
            .elements = decomposition_.edges.z,
            .start_doubles = butterfly.from.start_doubles + follower_doubles,
            .piece_doubles = blocks_of(next) * block_doubles,
            .next_piece_doubles = butterfly.from_row_doubles,
            .pieces = y_radix,
            .pace = 2};
}

void Spectrum::transform_forward(int thread, int tile, double* const* from,
                                 std::ptrdiff_t row_doubles_of_source) {
    const auto start_doubles = [&](int number) {
        return butterfly_of(number) * y_radix * row_doubles_of_source + first_block(number) * block_doubles;
    };
    const int next = tile + threads();
    YzTile one = work_on(thread, tile);
    one.from = {.element = from, .start_doubles = start_doubles(tile)};
    one.from_row_doubles = row_doubles_of_source;
    one.to = side(tile);
    one.to_row_doubles = row_doubles();
    one.prefetch = prefetch_after(one, next, start_doubles(next) - start_doubles(tile));
    functions_.transform_yz_tile(one);
}

void Spectrum::transform_inverse(int thread, int tile, const Evolution& evolution, double* const* to,
                                 std::ptrdiff_t row_doubles_of_target) {
    YzTile one = work_on(thread, tile);
    one.from = side(tile);
    one.from_row_doubles = row_doubles();
    one.to = {.element = to, .start_doubles = first_block(tile) * block_doubles};
    one.to_row_doubles = row_doubles_of_target;
    one.prefetch = prefetch_after(one, tile + threads(), threads() * tile_doubles());
    std::array<double, y_radix> factor{};
    int number = decomposition_.butterflies().first + butterfly_of(tile);
    for (double& row : factor) {
        row = evolution.y(number);
        number += decomposition_.all_butterflies();
    }
    const std::ptrdiff_t block = decomposition_.blocks().first + first_block(tile);
    functions_.transform_yz_tile_inverse(one, {.row = factor.data(),
                                               .along = evolution.z().data(),
                                               .across = evolution.x().data() + block * block_points});
}

bool Spectrum::has(int x, int y) const {
    return decomposition_.blocks().has(x / int{block_points}) &&
           decomposition_.butterflies().has(y % decomposition_.all_butterflies());
}

std::complex<double> Spectrum::at(int x, int y, int z) const {
    const std::ptrdiff_t block = x / block_points - decomposition_.blocks().first;
    const std::ptrdiff_t butterfly =
        y % decomposition_.all_butterflies() - decomposition_.butterflies().first;
    const std::ptrdiff_t row = y / decomposition_.all_butterflies();
    const double* const place =
        memory_.data() + (butterfly * tiles_of_butterfly_ + block / tile_blocks_) * tile_doubles() +
        row * row_doubles() + z * plane_doubles() + block % tile_blocks_ * block_doubles + x % block_points;
    return {place[0], place[block_points]};
}

}  // namespace tare::npb::ft
