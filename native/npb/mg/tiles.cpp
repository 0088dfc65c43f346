// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/tiles.hpp"

#include <algorithm>

#include "npb/common/share.hpp"

namespace tare::npb::mg {

namespace {

/// Values of one plane in a tile. Some 14 such planes are in hand at once: 1.8 MB, near enough to the second
/// cache, and each is long enough that the processor fetches ahead.
constexpr int tile_values = 16384;
constexpr int least_height = 8;
/// Rows that the first tile takes beyond its own.
constexpr int margin = 3;

constexpr int quotient_upwards(int number, int divisor) { return (number + divisor - 1) / divisor; }

constexpr int planes_in_hand = 3;
constexpr int rows_of_pair = 2;

Buffer<double> rows_buffer(int rows, int length) {
    return Buffer<double>{static_cast<std::size_t>(rows) * static_cast<std::size_t>(length)};
}

/// Planes begin below 0, but not by more than `planes_in_hand` twice.
int slot_of(int plane) { return (plane + 2 * planes_in_hand) % planes_in_hand; }

}  // namespace

Rows Tile::rows(Stage stage) const {
    const int whole_first = stage - 2;
    return {.first = is_first() ? whole_first : start - stage,
            .end = is_last() ? whole_first + edge : next_start - stage};
}

Rows Tile::residual_rows() const {
    const Rows smoothed = rows(smooth_stage);
    return {.first = smoothed.first - 1, .end = smoothed.end + 1};
}

Rows Tile::coarse_rows() const {
    return {.first = is_first() ? 1 : (start - margin) / 2,
            .end = is_last() ? edge / 2 + 1 : (next_start - margin) / 2};
}

Tile Tiles::tile(int index) const {
    return {.index = index,
            .count = count_,
            .edge = edge_,
            .start = start_of(index),
            .next_start = start_of(index + 1)};
}

int Tiles::capacity() const { return 2 * quotient_upwards(edge_ / 2, count_) + margin; }

int Tiles::start_of(int index) const { return 2 * share_of(edge_ / 2, count_, index).first + margin; }

Tiles tiles_for(int edge, int threads) {
    const int for_cache = quotient_upwards(edge, std::max(least_height, tile_values / edge));
    const int most = std::max(1, edge / least_height);
    return {edge, std::min(quotient_upwards(for_cache, threads) * threads, most)};
}

PlanesInHand::PlanesInHand(int capacity, int length)
    : capacity_{capacity}, length_{length}, values_{rows_buffer(planes_in_hand * capacity, length)} {}

double* PlanesInHand::row(int plane, int row) {
    return values_.data() + static_cast<std::ptrdiff_t>(slot_of(plane) * capacity_ + row - first_) * length_;
}

KeptPairs::KeptPairs(int length, int first_plane, int planes)
    : pair_size_{static_cast<std::ptrdiff_t>(rows_of_pair) * length},
      first_plane_{first_plane},
      first_tile_{rows_buffer(rows_of_pair * planes, length)},
      even_tiles_{rows_buffer(rows_of_pair * planes, length)},
      odd_tiles_{rows_buffer(rows_of_pair * planes, length)} {}

double* KeptPairs::pair(Buffer<double>& pairs, int plane) const {
    return pairs.data() + (plane - first_plane_) * pair_size_;
}

ResidualInHand::ResidualInHand(int capacity, int length, KeptPairs& kept)
    : length_{length}, kept_{&kept}, in_hand_{capacity, length} {}

void ResidualInHand::begin(const Tile& tile) {
    tile_ = tile;
    in_hand_.begin(tile.residual_rows());
}

void ResidualInHand::exchange_pairs(int plane) {
    const Rows made = tile_.rows(residual_stage);
    const Rows all = tile_.residual_rows();
    if (tile_.is_first()) {
        copy_pair(row(plane, made.first), kept_->of_first_tile(plane));
    } else {
        copy_pair(kept_->of_tile(tile_.index - 1, plane), row(plane, all.first));
    }
    if (tile_.is_last()) {
        copy_pair(kept_->of_first_tile(plane), row(plane, all.end - rows_of_pair));
    } else {
        copy_pair(row(plane, made.end - rows_of_pair), kept_->of_tile(tile_.index, plane));
    }
}

void ResidualInHand::copy_pair(const double* from, double* into) const {
    std::copy_n(from, static_cast<std::ptrdiff_t>(rows_of_pair) * length_, into);
}

}  // namespace tare::npb::mg
