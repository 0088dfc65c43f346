// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/progress.hpp"

#include <cstddef>
#include <limits>

namespace tare::npb::mg {

TileProgress::TileProgress(int tiles) : last_planes_(static_cast<std::size_t>(tiles)) { begin(); }

void TileProgress::begin() {
    constexpr int before_all_planes = std::numeric_limits<int>::min();
    for (Progress& one : last_planes_) {
        one.set(before_all_planes);
    }
}

void TileProgress::report(int tile, int plane) { last_planes_[static_cast<std::size_t>(tile)].set(plane); }

void TileProgress::wait_for(int tile, int plane) const {
    const Progress& last = last_planes_[static_cast<std::size_t>(tile)];
    wait_until([&] { return last.planes() >= plane; }, [] {});
}

}  // namespace tare::npb::mg
