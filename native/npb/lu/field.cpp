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

void Field::set(Point (*value)(double x, double y, double z), Team& team) {
    const Share<int> planes = in_cube(part_.z);
    team.run([&](int thread) {
        const Share<int> own = team.part(thread, planes.count);
        for (int index = own.first; index < own.end(); ++index) {
            set_plane(value, planes.first + index);
        }
    });
}

Share<int> Field::in_cube(const Extent& extent) const {
    const int first = std::max(-reach, -extent.first);
    const int end = std::min(extent.count + reach, part_.edge - extent.first);
    return {.first = first, .count = end - first};
}

void Field::set_plane(Point (*value)(double x, double y, double z), int z) {
    const auto at = [&](const Extent& extent, int place) {
        return static_cast<double>(extent.first + place) / (part_.edge - 1);
    };
    const Share<int> across_x = in_cube(part_.x);
    const Share<int> across_y = in_cube(part_.y);
    for (int y = across_y.first; y < across_y.end(); ++y) {
        for (int x = across_x.first; x < across_x.end(); ++x) {
            const Point values = value(at(part_.x, x), at(part_.y, y), at(part_.z, z));
            const std::ptrdiff_t place = layout_.place(x, y);
            for (int m = 0; m < quantities; ++m) {
                values_.span()[offset(z) + static_cast<std::size_t>(place + m * layout_.pitch())] =
                    values.at(static_cast<std::size_t>(m));
            }
        }
    }
}

Point initial(double x, double y, double z) {
    const bool on_boundary = is_boundary(x) || is_boundary(y) || is_boundary(z);
    return on_boundary ? flow::exact(x, y, z) : flow::interpolated(x, y, z);
}

}  // namespace tare::npb::lu
