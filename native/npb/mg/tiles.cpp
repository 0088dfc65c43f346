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

}  // namespace tare::npb::mg
