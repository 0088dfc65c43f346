// SPDX-License-Identifier: Apache-2.0
#include "npb/ft/checksum.hpp"

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
}

std::complex<double> Checksum::here() const {
    std::complex<double> sum;
    for (const double* const place : places_) {
        sum += std::complex<double>{place[0], place[block_points]};
    }
    return scale_ * sum;
}

}  // namespace tare::npb::ft
