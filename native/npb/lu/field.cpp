// SPDX-License-Identifier: Apache-2.0
#include "npb/lu/field.hpp"

#include <algorithm>

namespace tare::npb::lu {

namespace {

bool is_boundary(double coordinate) { return coordinate <= 0 || coordinate >= 1; }

}  // namespace

Field::Field(const Part& part, const Layout& layout)
    : part_{part},
      layout_{layout},
      values_{static_cast<std::size_t>(part.z.count + 2 * reach) * quantities *
              static_cast<std::size_t>(layout.pitch())} {
    std::ranges::fill(values_.span(), 1.0);
}

Point Field::point(int x, int y, int z) const {
    Point found{};
    const std::ptrdiff_t place = layout_.place(x, y);
    for (int m = 0; m < quantities; ++m) {
        found.at(static_cast<std::size_t>(m)) =
            values_.span()[offset(z) + static_cast<std::size_t>(place + m * layout_.pitch())];
    }
    return found;
}

void Field::set(Point (*value)(double x, double y, double z)) {
    // In the cube's own count, a block's layers end at the boundary.
    const auto first = [](const Share& share) { return std::max(-reach, -share.first); };
    const auto end = [&](const Share& share) {
        return std::min(share.count + reach, part_.edge - share.first);
    };
    const auto at = [&](const Share& share, int place) {
        return static_cast<double>(share.first + place) / (part_.edge - 1);
    };
    const auto set_point = [&](int x, int y, int z) {
        const Point values = value(at(part_.x, x), at(part_.y, y), at(part_.z, z));
        const std::ptrdiff_t place = layout_.place(x, y);
        for (int m = 0; m < quantities; ++m) {
            values_.span()[offset(z) + static_cast<std::size_t>(place + m * layout_.pitch())] =
                values.at(static_cast<std::size_t>(m));
        }
    };
    for (int z = first(part_.z); z < end(part_.z); ++z) {
        for (int y = first(part_.y); y < end(part_.y); ++y) {
            for (int x = first(part_.x); x < end(part_.x); ++x) {
                set_point(x, y, z);
            }
        }
    }
}

Point initial(double x, double y, double z) {
    const bool on_boundary = is_boundary(x) || is_boundary(y) || is_boundary(z);
    return on_boundary ? flow::exact(x, y, z) : flow::interpolated(x, y, z);
}

}  // namespace tare::npb::lu
