// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "npb/lu/layout.hpp"

// Flows, and points of them, for the tests of LU.
namespace tare::npb::lu::tests {

/// A block of a cube, which need not be a cube itself.
inline Block block_of(int x_count, int y_count, int z_count, int edge) {
    return {.communicator = MPI_COMM_SELF,
            .edge = edge,
            .x = {.first = 1, .count = x_count},
            .y = {.first = 1, .count = y_count},
            .z = {.first = 1, .count = z_count}};
}

inline Block cube(int edge) { return block_of(edge - 2, edge - 2, edge - 2, edge); }

inline Point varied_flow(double x, double y, double z) {
    return {1.5 + 0.3 * std::sin(9 * x + 5 * y), 0.5 * std::cos(7 * y) + z, std::sin(3 * x * y) - z,
            0.2 + x * z, 6 + y - std::cos(11 * z + x)};
}

inline Point group_point(const Layout& layout, GroupField& groups, int x, int y, int z) {
    Point found{};
    for (int m = 0; m < quantities; ++m) {
        found.at(static_cast<std::size_t>(m)) =
            groups.plane(z)[static_cast<std::size_t>(layout.group_offset(x, y, m))];
    }
    return found;
}

/// start + factor * direction
inline Point combined(const Point& start, double factor, const Point& direction) {
    Point found{};
    for (std::size_t m = 0; m < found.size(); ++m) {
        found.at(m) = start.at(m) + factor * direction.at(m);
    }
    return found;
}

inline double largest(const Point& point) {
    return std::abs(*std::ranges::max_element(point, {}, [](double value) { return std::abs(value); }));
}

}  // namespace tare::npb::lu::tests
