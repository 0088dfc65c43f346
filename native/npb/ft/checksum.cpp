// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/checksum.hpp"

#include <numeric>

#include "npb/ft/layout.hpp"

namespace tare::npb::ft {

namespace {

constexpr int summands = 1024;

}  // namespace

Checksum::Checksum(const Box& box, const Edges& edges) : scale_{1.0 / edges.points()} {
    for (int number = 1; number <= summands; ++number) {
        const int x = number % edges.x;
        const int y = 3 * number % edges.y;
        const int z = 5 * number % edges.z;
        if (box.has_row(y, z)) {
            places_.push_back(box.point(x, y, z));
        }
    }
    values_.resize(places_.size());
}

std::complex<double> Checksum::here(Team& team) {
    team.run([&](int thread) {
        const auto part = team.part(thread, places_.size());
        for (std::size_t number = part.first; number < part.end(); ++number) {
            values_[number] = {places_[number][0], places_[number][block_points]};
        }
    });
    return scale_ * std::accumulate(values_.begin(), values_.end(), std::complex<double>{});
}

}  // namespace tare::npb::ft
