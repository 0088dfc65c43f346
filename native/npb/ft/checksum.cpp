// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/checksum.hpp"

#include <numeric>

#include "npb/ft/layout.hpp"

namespace tare::npb::ft {

namespace {

constexpr int summands = 1024;

}  // namespace

Checksum::Checksum(const Fft3d& fft, const Edges& edges) : scale_{1.0 / edges.points()} {
    for (int number = 1; number <= summands; ++number) {
        const int x = number % edges.x;
        const int y = 3 * number % edges.y;
        const int z = 5 * number % edges.z;
        if (fft.has_row(y, z)) {
            points_.push_back(fft.point(x, y, z));
        }
    }
    values_.resize(points_.size());
}

std::complex<double> Checksum::here(Team& team) {
    team.run([&](int thread) {
        const auto part = team.part(thread, points_.size());
        for (std::size_t number = part.first; number < part.end(); ++number) {
            values_[number] = {points_[number][0], points_[number][block_points]};
        }
    });
    return scale_ * std::accumulate(values_.begin(), values_.end(), std::complex<double>{});
}

}  // namespace tare::npb::ft
