// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/window.hpp"

#include <algorithm>

namespace tare::npb::mg {

namespace {

constexpr int planes_in_hand = 3;
constexpr int pair = 2;

constexpr int of_first_tile = 0;
constexpr int of_tile(int tile) { return 1 + tile % 2; }

Buffer<double> rows_buffer(int rows, int length) {
    return Buffer<double>{static_cast<std::size_t>(rows) * static_cast<std::size_t>(length)};
}

/// Planes begin below 0, but not by more than `planes_in_hand` twice.
int slot_of(int plane) { return (plane + 2 * planes_in_hand) % planes_in_hand; }

}  // namespace

PlanesInHand::PlanesInHand(int capacity, int length)
    : capacity_{capacity}, length_{length}, values_{rows_buffer(planes_in_hand * capacity, length)} {}

double* PlanesInHand::row(int plane, int row) {
    return values_.data() + static_cast<std::ptrdiff_t>(slot_of(plane) * capacity_ + row - first_) * length_;
}

ResidualInHand::ResidualInHand(const Tiles& tiles, int length, int first_plane, int planes)
    : tiles_{tiles}, length_{length}, first_plane_{first_plane}, in_hand_{tiles.capacity(), length} {
    for (auto& pairs : kept_) {
        pairs = rows_buffer(pair * planes, length);
    }
}

void ResidualInHand::begin_tile(int tile) {
    tile_ = tile;
    in_hand_.begin(tiles_.residual_rows(tile));
}

void ResidualInHand::exchange_pairs(int plane) {
    const Rows made = tiles_.rows(tile_, residual_stage);
    const Rows all = tiles_.residual_rows(tile_);
    if (tile_ == 0) {
        copy_pair(row(plane, made.first), kept(of_first_tile, plane));
    } else {
        copy_pair(kept(of_tile(tile_ - 1), plane), row(plane, all.first));
    }
    if (tiles_.is_last(tile_)) {
        copy_pair(kept(of_first_tile, plane), row(plane, all.end - pair));
    } else {
        copy_pair(row(plane, made.end - pair), kept(of_tile(tile_), plane));
    }
}

double* ResidualInHand::kept(int which, int plane) {
    const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(pair) * (plane - first_plane_) * length_;
    return kept_.at(static_cast<std::size_t>(which)).data() + place;
}

void ResidualInHand::copy_pair(const double* from, double* into) const {
    std::copy_n(from, static_cast<std::ptrdiff_t>(pair) * length_, into);
}

}  // namespace tare::npb::mg
