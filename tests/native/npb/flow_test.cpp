// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "npb/flow/border.hpp"
#include "npb/flow/exact.hpp"
#include "npb/flow/forcing.hpp"
#include "npb/flow/norms.hpp"
#include "npb/flow/process_grid.hpp"
#include "npb/flow/right_hand_side.hpp"

using tare::npb::runnable;
using tare::npb::Simd;
using tare::npb::World;
using tare::npb::flow::Block;
using tare::npb::flow::components;
using tare::npb::flow::Extent;
using tare::npb::flow::Field;
using tare::npb::flow::Point;
using tare::npb::flow::ProcessGrid;

namespace {

Block cube(int edge) {
    return {Extent::part(edge, 1, 0), Extent::part(edge, 1, 0), Extent::part(edge, 1, 0)};
}

Field right_hand_side(const Field& field, const Field& forcing, double scale, Simd simd) {
    Field found{field.block(), Field::Border::none};
    const auto& [x, y, z] = field.block();
    for (int plane = z.begin(); plane < z.end(); ++plane) {
        tare::npb::flow::functions(simd).right_hand_side(field.block(), scale, field.view(), forcing.view(),
                                                         {.z = plane, .y_begin = y.begin(), .y_end = y.end()},
                                                         found.view());
    }
    return found;
}

double largest(const Point& point) {
    return std::abs(*std::ranges::max_element(point, {}, [](double value) { return std::abs(value); }));
}

Field initial(const Block& block) {
    Field found{block, Field::Border::ghosts};
    tare::npb::Team team{1};
    tare::npb::flow::set_initial(found, team);
    return found;
}

/// The largest difference of two fields at points inside the boundary; `part` lies in `whole`.
double largest_difference(const Field& part, const Field& whole) {
    const auto& [x, y, z] = part.block();
    double found = 0;
    for (int k = z.begin(); k < z.end(); ++k) {
        for (int j = y.begin(); j < y.end(); ++j) {
            for (int i = x.begin(); i < x.end(); ++i) {
                Point difference = part.point(k, j, i);
                const Point right = whole.point(z.first + k, y.first + j, i);
                for (std::size_t component = 0; component < components; ++component) {
                    difference.at(component) -= right.at(component);
                }
                found = std::max(found, largest(difference));
            }
        }
    }
    return found;
}

}  // namespace

TEST_CASE("the exact solution has no residual with its forcing, whatever the vectors") {
    for (const int edge : {5, 12, 19}) {
        Field exact{cube(edge), Field::Border::ghosts};
        tare::npb::Team team{2};
        tare::npb::flow::set_exact(exact, team);
        const Field forcing = tare::npb::flow::forcing(cube(edge), Simd::plain, team);
        for (const Simd simd : runnable()) {
            const Field residual = right_hand_side(exact, forcing, 1, simd);
            CHECK(largest(residual_norms(residual, MPI_COMM_SELF)) < 1e-9);
            CHECK(largest(residual_norms(forcing, MPI_COMM_SELF)) > 1);
        }
        CHECK(largest(error_norms(exact, MPI_COMM_SELF)) == 0);
    }
}

TEST_CASE("the right-hand side is the same for all vectors, and as large as its scale") {
    for (const int edge : {5, 8, 12, 25}) {
        const Field field = initial(cube(edge));
        tare::npb::Team team{1};
        const Field forcing = tare::npb::flow::forcing(cube(edge), Simd::plain, team);
        const Field plain = right_hand_side(field, forcing, 1, Simd::plain);
        const double size = largest(residual_norms(plain, MPI_COMM_SELF));
        for (const Simd simd : runnable()) {
            CHECK(largest_difference(right_hand_side(field, forcing, 1, simd), plain) < 1e-11 * size);
            const Field half = right_hand_side(field, forcing, 0.5, simd);
            CHECK(largest(residual_norms(half, MPI_COMM_SELF)) == doctest::Approx(size / 2));
        }
    }
}

TEST_CASE("uniform flow away from the boundary stays as it is") {
    Field field{cube(12), Field::Border::ghosts};
    field.fill({1.5, 0.3, -0.2, 0.7, 4}, {.first = -2, .count = 16});
    const Field nothing{cube(12), Field::Border::none};
    for (const Simd simd : runnable()) {
        const Field change = right_hand_side(field, nothing, 1, simd);
        CHECK(largest(change.point(5, 6, 4)) < 1e-11);
        CHECK(largest(change.point(1, 6, 4)) > 0.1);  // one-sided fourth differences do not add up to zero
    }
}

TEST_CASE("a part of the grid with its neighbours' borders has the right-hand side of the whole") {
    constexpr int edge = 13;
    const Field whole_exact = [] {
        Field found{cube(edge), Field::Border::ghosts};
        tare::npb::Team team{1};
        tare::npb::flow::set_exact(found, team);
        return found;
    }();
    const Field nothing{cube(edge), Field::Border::none};
    for (int y = 0; y < 3; ++y) {
        for (int z = 0; z < 2; ++z) {
            const Block block{Extent::part(edge, 1, 0), Extent::part(edge, 3, y), Extent::part(edge, 2, z)};
            Field part{block, Field::Border::ghosts};
            tare::npb::Team team{2};
            tare::npb::flow::set_exact(part, team);  // also in the ghosts
            const Field none{block, Field::Border::none};
            for (const Simd simd : runnable()) {
                CHECK(largest_difference(right_hand_side(part, none, 1, simd),
                                         right_hand_side(whole_exact, nothing, 1, simd)) < 1e-9);
            }
        }
    }
}

TEST_CASE("the initial field is exact on the boundary") {
    const Field field = initial(cube(7));
    const auto exact_at = [](int z, int y, int x) {
        return tare::npb::flow::exact(x / 6.0, y / 6.0, z / 6.0);
    };
    CHECK(field.point(0, 3, 4) == exact_at(0, 3, 4));
    CHECK(field.point(3, 6, 4) == exact_at(3, 6, 4));
    CHECK(field.point(3, 2, 0) == exact_at(3, 2, 0));
    CHECK(field.point(3, 2, 4) != exact_at(3, 2, 4));
    CHECK(field.point(3, 2, 4) == tare::npb::flow::interpolated(4 / 6.0, 2 / 6.0, 3 / 6.0));
}

TEST_CASE("fourth differences vanish for cubics inside, and reach no place beyond the ends") {
    constexpr int edge = 9;
    for (int place = 0; place < edge; ++place) {
        const auto difference = tare::npb::flow::fourth_difference(place, edge);
        double of_cubic = 0;
        for (int distance = -2; distance <= 2; ++distance) {
            const int at = place + distance;
            const double weight = difference.weight[distance + 2];
            CHECK((weight == 0 || (at > 0 && at < edge - 1) || (place > 1 && place < edge - 2)));
            of_cubic += weight * at * at * at;
        }
        if (place >= 3 && place < edge - 3) {
            CHECK(of_cubic == 0);
        }
    }
}

TEST_CASE("the parts of an axis follow each other and cover it") {
    for (const int parts : {1, 2, 3, 5}) {
        int next = 0;
        for (int index = 0; index < parts; ++index) {
            const Extent extent = Extent::part(17, parts, index);
            CHECK(extent.first == next);
            CHECK(extent.begin() == (index == 0 ? 1 : 0));
            CHECK(extent.end() == (index == parts - 1 ? extent.count - 1 : extent.count));
            next += extent.count;
        }
        CHECK(next == 17);
    }
}

TEST_CASE("ranks of a grid know their neighbours, and too many ranks are refused") {
    const World world{.communicator = MPI_COMM_SELF, .rank = 4, .ranks = 9};
    const ProcessGrid grid = ProcessGrid::of(world, 3, 3);
    CHECK(grid.y.previous == 3);
    CHECK(grid.y.next == 5);
    CHECK(grid.z.previous == 1);
    CHECK(grid.z.next == 7);
    CHECK(grid.block(12).y.first == 4);
    CHECK_THROWS(static_cast<void>(grid.block(5)));
    const World last{.communicator = MPI_COMM_SELF, .rank = 8, .ranks = 9};
    CHECK(ProcessGrid::of(last, 3, 3).y.next == MPI_PROC_NULL);
    CHECK(ProcessGrid::of(last, 3, 3).z.next == MPI_PROC_NULL);
}

TEST_CASE("the side of the largest square of ranks") {
    CHECK(tare::npb::flow::square_side(1) == 1);
    CHECK(tare::npb::flow::square_side(3) == 1);
    CHECK(tare::npb::flow::square_side(4) == 2);
    CHECK(tare::npb::flow::square_side(15) == 3);
    CHECK(tare::npb::flow::square_side(16) == 4);
}

TEST_CASE("a rank alone has no border to fetch") {
    Field field = initial(cube(6));
    const Field before = initial(cube(6));
    const World alone{.communicator = MPI_COMM_SELF, .rank = 0, .ranks = 1};
    tare::npb::flow::exchange_borders(field, ProcessGrid::of(alone, 1, 1));
    CHECK(largest_difference(field, before) == 0);
}
