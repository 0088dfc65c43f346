// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "flow_textbook.hpp"
#include "npb/common/random.hpp"
#include "npb/flow/exact.hpp"
#include "npb/flow/forcing.hpp"
#include "npb/flow/right_hand_side.hpp"

using tare::npb::runnable;
using tare::npb::Simd;
using tare::npb::flow::Block;
using tare::npb::flow::Extent;
using tare::npb::flow::Field;
using tare::npb::flow::Point;
using tare::npb::textbook::flux;
using tare::npb::textbook::spread;
using tare::npb::textbook::sum;

namespace {

constexpr int edge = 11;
const Block cube{Extent::part(edge, 1, 0), Extent::part(edge, 1, 0), Extent::part(edge, 1, 0)};

/// Places of a grid, z first.
using Place = std::array<int, 3>;

/// The place so far along an axis (0 is x).
Place moved(Place place, std::size_t axis, int distance) {
    place.at(2 - axis) += distance;
    return place;
}

Point at(const Field& field, const Place& place) { return field.point(place[0], place[1], place[2]); }

/// RNR-94-007 section 3.3.2: what fourth-difference dissipation takes away, in its three forms. Those at the
/// other end are the same the other way round.
Point fourth_difference(const Field& u, std::size_t axis, const Place& place) {
    const int from_start = place.at(2 - axis);
    const int from_end = edge - 1 - from_start;
    const int nearest = std::min(from_start, from_end);
    const int inward = from_start <= from_end ? 1 : -1;
    const auto value = [&](int distance) { return at(u, moved(place, axis, inward * distance)); };
    Point found = sum(-4, value(1), value(2));
    if (nearest == 1) {
        return sum(5, value(0), found);
    }
    found = sum(6, value(0), sum(-4, value(-1), found));
    return nearest == 2 ? found : sum(1, value(-2), found);
}

/// The operator at a place inside the boundary: minus the fluxes' first differences, plus the second
/// differences, minus the fourth ones.
Point textbook_operator(const Field& u, const Place& place) {
    constexpr double steps = edge - 1;
    constexpr double fourth = 0.25;
    Point found{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const Point before = at(u, moved(place, axis, -1));
        const Point here = at(u, place);
        const Point after = at(u, moved(place, axis, 1));
        found = sum(-steps / 2, flux(axis, after), sum(steps / 2, flux(axis, before), found));
        found = sum(steps * steps, spread(axis, before), sum(steps * steps, spread(axis, after), found));
        found = sum(-2 * steps * steps, spread(axis, here), found);
        found = sum(-fourth, fourth_difference(u, axis, place), found);
    }
    return found;
}

template <typename Work>
void each_inside(Work&& work) {
    for (int z = 1; z < edge - 1; ++z) {
        for (int y = 1; y < edge - 1; ++y) {
            for (int x = 1; x < edge - 1; ++x) {
                work(Place{z, y, x});
            }
        }
    }
}

/// The largest difference between the operator's values and `factor` times those in `field`.
double largest_difference(const Field& u, const Field& field, double factor) {
    double found = 0;
    each_inside([&](const Place& place) {
        for (const double value : sum(-factor, at(field, place), textbook_operator(u, place))) {
            found = std::max(found, std::abs(value));
        }
    });
    return found;
}

/// The exact solution, disturbed by up to a tenth of each value, so that no symmetry hides a mistake.
Field disturbed() {
    Field found{cube, Field::Border::ghosts};
    tare::npb::Team team{1};
    tare::npb::flow::set_exact(found, team);
    tare::npb::Random random{314159265};
    each_inside([&](const Place& place) {
        Point values = at(found, place);
        std::ranges::for_each(values, [&](double& value) { value *= 0.9 + 0.2 * random.next(); });
        found.set_point(place[0], place[1], place[2], values);
    });
    return found;
}

}  // namespace

TEST_CASE("the right-hand side is the report's operator, written out point by point") {
    const Field u = disturbed();
    const Field nothing{cube, Field::Border::none};
    for (const Simd simd : runnable()) {
        Field found{cube, Field::Border::none};
        for (int z = 1; z < edge - 1; ++z) {
            tare::npb::flow::functions(simd).right_hand_side(
                cube, 1, u.view(), nothing.view(), {.z = z, .y_begin = 1, .y_end = edge - 1}, found.view());
        }
        CHECK(largest_difference(u, found, 1) < 1e-10);
        CHECK(largest_difference(u, nothing, 1) > 100);
    }
}

TEST_CASE("the forcing is minus the report's operator on the exact solution") {
    Field exact{cube, Field::Border::ghosts};
    tare::npb::Team team{1};
    tare::npb::flow::set_exact(exact, team);
    for (const Simd simd : runnable()) {
        CHECK(largest_difference(exact, tare::npb::flow::forcing(cube, simd, team), -1) < 1e-10);
    }
}
