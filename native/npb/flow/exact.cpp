// SPDX-License-Identifier: Apache-2.0
#include "npb/flow/exact.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tare::npb::flow {

namespace {

/// A density and an energy that any arithmetic bears.
constexpr Point at_rest{1, 0, 0, 0, 1};

/// The coefficients of one component: of 1, and of the coordinates' first to fourth powers (C of the report).
struct Polynomial {
    double constant;
    std::array<std::array<double, 3>, 4> powers;
};

constexpr std::array<Polynomial, components> polynomials{{
    {2, {{{0, 0, 4}, {5, 3, 0.5}, {0.02, 0.01, 0.03}, {0.5, 0.4, 0.3}}}},
    {1, {{{0, 0, 0}, {1, 2, 3}, {0.01, 0.03, 0.02}, {0.4, 0.3, 0.5}}}},
    {2, {{{2, 0, 0}, {0, 2, 3}, {0.04, 0.03, 0.05}, {0.3, 0.5, 0.4}}}},
    {2, {{{2, 0, 0}, {0, 2, 3}, {0.03, 0.05, 0.04}, {0.2, 0.1, 0.3}}}},
    {5, {{{4, 3, 2}, {0.1, 0.4, 0.3}, {0.05, 0.04, 0.03}, {0.1, 0.3, 0.2}}}},
}};

double value(const Polynomial& polynomial, const std::array<double, 3>& coordinates) {
    double sum = polynomial.constant;
    for (std::size_t axis = 0; axis < coordinates.size(); ++axis) {
        double horner = 0;
        for (std::size_t power = polynomial.powers.size(); power > 0; --power) {
            horner = coordinates.at(axis) * (polynomial.powers.at(power - 1).at(axis) + horner);
        }
        sum += horner;
    }
    return sum;
}

/// Between the two faces across an axis.
double between(double first, double last, double coordinate) {
    return coordinate * last + (1 - coordinate) * first;
}

bool is_boundary(const Extent& extent, int place) { return place < extent.begin() || place >= extent.end(); }

bool is_in_domain(const Extent& extent, int place) {
    return extent.first + place >= 0 && extent.first + place < extent.edge;
}

/// Calls `set(z, y, x)` for the points of a plane, and of so many rows and columns beside it.
template <typename Set>
void each_point(const Block& block, int z, int border, int border_x, const Set& set) {
    for (int y = -border; y < block.y.count + border; ++y) {
        for (int x = -border_x; x < block.x.count + border_x; ++x) {
            set(z, y, x);
        }
    }
}

/// Fluid at rest, and what `set(z, y, x)` makes of the points of the block and of its `border`.
template <typename Set>
void each_point(Field& field, Team& team, int border, const Set& set) {
    const Block& block = field.block();
    team.run([&](int thread) {
        Share<int> planes = team.part(thread, block.z.count + 2 * field.border());
        planes.first -= field.border();
        field.fill(at_rest, planes);
        const int end = std::min(planes.end(), block.z.count + border);
        for (int z = std::max(planes.first, -border); z < end; ++z) {
            each_point(block, z, border, std::min(border, field.border_x()), set);
        }
    });
}

}  // namespace

Point exact(double x, double y, double z) {
    Point found{};
    for (std::size_t component = 0; component < found.size(); ++component) {
        found.at(component) = value(polynomials.at(component), {x, y, z});
    }
    return found;
}

// The three axes' interpolations joined: their sum less the products of two, plus that of three.
Point interpolated(double x, double y, double z) {
    const Point x_first = exact(0, y, z);
    const Point x_last = exact(1, y, z);
    const Point y_first = exact(x, 0, z);
    const Point y_last = exact(x, 1, z);
    const Point z_first = exact(x, y, 0);
    const Point z_last = exact(x, y, 1);
    Point found{};
    for (std::size_t component = 0; component < found.size(); ++component) {
        const double along_x = between(x_first.at(component), x_last.at(component), x);
        const double along_y = between(y_first.at(component), y_last.at(component), y);
        const double along_z = between(z_first.at(component), z_last.at(component), z);
        found.at(component) = along_x + along_y + along_z - along_x * along_y - along_x * along_z -
                              along_y * along_z + along_x * along_y * along_z;
    }
    return found;
}

void set_exact(Field& field, Team& team) {
    const Block& block = field.block();
    each_point(field, team, field.border(), [&](int z, int y, int x) {
        if (is_in_domain(block.z, z) && is_in_domain(block.y, y) && is_in_domain(block.x, x)) {
            field.set_point(z, y, x,
                            exact(block.x.coordinate(x), block.y.coordinate(y), block.z.coordinate(z)));
        }
    });
}

void set_initial(Field& field, Team& team) {
    const Block& block = field.block();
    each_point(field, team, 0, [&](int z, int y, int x) {
        const bool boundary = is_boundary(block.x, x) || is_boundary(block.y, y) || is_boundary(block.z, z);
        const auto function = boundary ? exact : interpolated;
        field.set_point(z, y, x,
                        function(block.x.coordinate(x), block.y.coordinate(y), block.z.coordinate(z)));
    });
}

}  // namespace tare::npb::flow
