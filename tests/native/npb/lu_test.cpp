// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>

#include "lu_flows.hpp"
#include "npb/flow/exact.hpp"
#include "npb/flow/forcing.hpp"
#include "npb/flow/right_hand_side.hpp"
#include "npb/lu/norms.hpp"
#include "npb/lu/problem.hpp"
#include "npb/lu/ssor.hpp"

namespace lu = tare::npb::lu;
namespace flow = tare::npb::flow;

using lu::Block;
using lu::Field;
using lu::GroupField;
using lu::Layout;
using lu::Point;
using lu::tests::combined;
using lu::tests::cube;
using lu::tests::group_point;
using lu::tests::largest;
using lu::tests::varied_flow;
using tare::npb::Messages;
using tare::npb::runnable;
using tare::npb::Simd;
using tare::npb::Team;
using tare::npb::World;

namespace {

Point constant_flow(double /*x*/, double /*y*/, double /*z*/) { return {1.5, 0.3, -0.2, 0.1, 4}; }

double largest_residual(lu::Ssor& ssor, const Block& block, int margin) {
    GroupField& residual = ssor.residual();
    double found = 0;
    for (int z = margin; z < block.z.count - margin; ++z) {
        for (int y = margin; y < block.y.count - margin; ++y) {
            for (int x = margin; x < block.x.count - margin; ++x) {
                found = std::max(found, largest(group_point(ssor.layout(), residual, x, y, z)));
            }
        }
    }
    return found;
}

}  // namespace

TEST_CASE("the exact solution has no residual with LU's forcing") {
    const Block block = cube(11);
    for (const Simd simd : runnable()) {
        lu::Ssor without{block, 1, simd};
        without.set_field(flow::exact);
        lu::Ssor with{block, 1, simd};
        with.set_forcing();
        CHECK(largest_residual(with, block, 0) < 1e-12 * largest_residual(without, block, 0));
    }
}

TEST_CASE("a constant flow has no differences of fluxes") {
    const Block block = cube(12);
    for (const Simd simd : runnable()) {
        lu::Ssor ssor{block, 1, simd};
        ssor.set_field(constant_flow);
        // Next to the boundary the one-sided fourth differences of a constant are not zero.
        CHECK(largest_residual(ssor, block, 1) < 1e-11);
    }
}

TEST_CASE("LU's residual is the right-hand side of BT and SP") {
    const int edge = 13;
    const Block block = cube(edge);
    const flow::Extent whole = flow::Extent::part(edge, 1, 0);
    const flow::Block whole_block{whole, whole, whole};
    for (const Simd simd : runnable()) {
        lu::Ssor ssor{block, 1, simd};
        ssor.set_forcing();
        ssor.set_field(lu::initial);
        GroupField& residual = ssor.residual();
        flow::Field field{whole_block, flow::Field::Border::ghosts};
        Team team{1};
        flow::set_initial(field, team);
        flow::Field right{whole_block, flow::Field::Border::none};
        const flow::Field forcing = flow::forcing(whole_block, simd, team);
        for (int z = 1; z < edge - 1; ++z) {
            flow::functions(simd).right_hand_side(whole_block, 1, field.view(), forcing.view(),
                                                  {.z = z, .y_begin = 1, .y_end = edge - 1}, right.view());
            for (int y = 1; y < edge - 1; ++y) {
                for (int x = 1; x < edge - 1; ++x) {
                    const Point here = group_point(ssor.layout(), residual, x - 1, y - 1, z - 1);
                    CHECK(largest(combined(here, -1, right.point(z, y, x))) < 1e-9);
                }
            }
        }
    }
}

TEST_CASE("a step of LU keeps nothing from those before but the field") {
    const Block block = cube(9);
    for (const Simd simd : runnable()) {
        lu::Ssor fresh{block, 0.5, simd};
        lu::Ssor warm{block, 0.5, simd};
        for (lu::Ssor* const one : {&warm, &fresh}) {
            one->set_forcing();
            one->set_field(lu::initial);
        }
        warm.step();
        warm.set_field(lu::initial);
        for (int step = 0; step < 3; ++step) {
            warm.step();
            fresh.step();
        }
        CHECK(lu::residual_norms(warm.residual(), block, warm.team()) ==
              lu::residual_norms(fresh.residual(), block, fresh.team()));
        CHECK(lu::error_norms(warm.field(), block, warm.team()) ==
              lu::error_norms(fresh.field(), block, fresh.team()));
    }
}

TEST_CASE("LU's layout knows where a point's neighbours lie, and gives each point a place of its own") {
    const Layout layout{7, 4};
    std::set<std::ptrdiff_t> places;
    const lu::Mesh mesh = layout.mesh();
    for (const lu::Diagonal& diagonal : std::span{mesh.diagonals, static_cast<std::size_t>(mesh.count)}) {
        CHECK(diagonal.offset % lu::group == 0);
        for (int along = 0; along < diagonal.length; ++along) {
            const int x = diagonal.first_x - along;
            const int y = diagonal.first_y + along;
            const std::ptrdiff_t offset = diagonal.offset + along;
            CHECK(layout.offset(x, y) == offset);
            CHECK(layout.offset(x + 1, y) == offset + diagonal.east);
            CHECK(layout.offset(x - 1, y) == offset + diagonal.west);
            CHECK(layout.offset(x, y + 1) == offset + diagonal.east + 1);
            CHECK(layout.offset(x, y - 1) == offset + diagonal.west - 1);
            CHECK(layout.offset(x + 2, y) == offset + diagonal.two_east);
            CHECK(layout.offset(x, y - 2) == offset + diagonal.two_west - 2);
        }
    }
    for (int y = -lu::halo_width; y < 4 + lu::halo_width; ++y) {
        for (int x = -lu::halo_width; x < 7 + lu::halo_width; ++x) {
            places.insert(layout.offset(x, y));
        }
    }
    CHECK(places.size() == (7 + 2 * lu::halo_width) * (4 + 2 * lu::halo_width));
    CHECK(*places.begin() >= 0);
    CHECK(*places.rbegin() < layout.pitch());
}

TEST_CASE("LU's blocks cover the grid, as square as their number permits; too narrow ones are refused") {
    for (const int ranks : {1, 2, 3, 4, 6, 7, 12}) {
        int points = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            const Block block =
                lu::Block::of({.communicator = MPI_COMM_SELF, .rank = rank, .ranks = ranks}, 21);
            points += block.x.count * block.y.count;
        }
        CHECK(points == 19 * 19);
    }
    const Block twelfth = lu::Block::of({.communicator = MPI_COMM_SELF, .rank = 4, .ranks = 12}, 26);
    CHECK(twelfth.x.count == 8);
    CHECK(twelfth.y.count == 6);
    CHECK(twelfth.x.previous == 3);
    CHECK(twelfth.x.next == 5);
    CHECK(twelfth.y.previous == 1);
    CHECK(twelfth.y.next == 7);
    CHECK_THROWS_AS(
        static_cast<void>(lu::Block::of({.communicator = MPI_COMM_SELF, .rank = 0, .ranks = 7}, 12)),
        tare::npb::WrongUse);
}

TEST_CASE(
    "with the reference's messages LU's blocks share all points, along x among more ranks than along y") {
    const auto block = [](int rank, int ranks) {
        return lu::Block::of({.communicator = MPI_COMM_SELF, .rank = rank, .ranks = ranks}, 33,
                             Messages::reference);
    };
    const Block first = block(0, 8);
    CHECK(first.x.first == 1);
    CHECK(first.x.count == 8);
    CHECK(first.x.next == 1);
    CHECK(first.y.count == 16);
    CHECK(first.y.next == 4);
    const Block last = block(7, 8);
    CHECK(last.x.first == 25);
    CHECK(last.x.count == 7);
    CHECK(last.x.previous == 6);
    CHECK(last.y.first == 17);
    CHECK(last.y.count == 15);
    CHECK(last.y.previous == 3);
    CHECK_THROWS_AS(static_cast<void>(block(0, 3)), tare::npb::WrongUse);
    CHECK_THROWS_AS(static_cast<void>(block(0, 10)), tare::npb::WrongUse);
}

TEST_CASE("the surface integral by cells, for the reference's messages, is that by points") {
    Block block = cube(10);
    const Layout layout{block.x.count, block.y.count};
    Field field{block, layout};
    Team team{1};
    field.set(varied_flow, team);
    const double by_points = lu::surface_integral(field, block, team);
    block.messages = Messages::reference;
    CHECK(lu::surface_integral(field, block, team) == doctest::Approx(by_points).epsilon(1e-13));
}

TEST_CASE("the surface integral of a constant pressure is that pressure times the box's surface") {
    const int edge = 10;
    const Block block = cube(edge);
    const Layout layout{block.x.count, block.y.count};
    Field field{block, layout};
    Team team{1};
    field.set([](double /*x*/, double /*y*/, double /*z*/) { return Point{1, 0, 0, 0, 5}; }, team);
    const double x = (edge - 3) * block.spacing();
    const double y = (edge - 4) * block.spacing();
    const double z = (edge - 4) * block.spacing();
    CHECK(lu::surface_integral(field, block, team) == doctest::Approx(2.0 * 2 * (x * y + y * z + z * x)));
}

TEST_CASE("the exact solution has no error") {
    const Block block = cube(10);
    const Layout layout{block.x.count, block.y.count};
    Field field{block, layout};
    Team team{1};
    field.set(flow::exact, team);
    CHECK(std::ranges::max(lu::error_norms(field, block, team)) == 0);
}

TEST_CASE("LU's class S gives the published answer with every vector width") {
    for (const Simd simd : runnable()) {
        tare::npb::Arguments arguments;
        arguments.simd = simd;
        for (const Messages messages : {Messages::own, Messages::reference}) {
            arguments.messages = messages;
            const tare::npb::Outcome outcome = lu::kernel.run(arguments, World::of(MPI_COMM_SELF));
            CHECK(tare::npb::verdict(outcome.checks) == tare::npb::Verification::successful);
            CHECK(outcome.iterations == 50);
            CHECK(outcome.million_operations == doctest::Approx(102.2984).epsilon(1e-6));
        }
    }
}
