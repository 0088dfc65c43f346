// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/tiles.hpp"

#include <algorithm>

namespace tare::npb::mg {

namespace {

/// Values of one plane in a tile. Some 14 such planes are in hand at once: 1.8 MB, near enough to the second
/// cache, and each is long enough that the processor fetches ahead.
constexpr int tile_values = 16384;
constexpr int least_height = 8;

}  // namespace

Tiles::Tiles(int edge) : Tiles{edge, std::min(edge, std::max(least_height, tile_values / edge))} {}

Rows Tiles::rows(int tile, Stage stage) const {
    const int whole_first = stage - 2;
    return {.first = tile == 0 ? whole_first : start_of(tile) - stage,
            .end = is_last(tile) ? whole_first + edge_ : start_of(tile + 1) - stage};
}

Rows Tiles::residual_rows(int tile) const {
    const Rows smoothed = rows(tile, smooth_stage);
    return {.first = smoothed.first - 1, .end = smoothed.end + 1};
}

Rows Tiles::coarse_rows(int tile) const {
    return {.first = tile == 0 ? 1 : tile * height_ / 2,
            .end = is_last(tile) ? edge_ / 2 + 1 : (tile + 1) * height_ / 2};
}

}  // namespace tare::npb::mg
