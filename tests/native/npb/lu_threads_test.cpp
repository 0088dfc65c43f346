// SPDX-License-Identifier: Apache-2.0
// LU with several threads in a rank.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "lu_flows.hpp"
#include "npb/lu/norms.hpp"
#include "npb/lu/problem.hpp"
#include "npb/lu/ssor.hpp"
#include "npb/lu/wavefront.hpp"

namespace lu = tare::npb::lu;

using lu::Block;
using lu::Direction;
using lu::Layout;
using lu::Mesh;
using lu::Point;
using lu::tests::block_of;
using lu::tests::group_point;
using lu::tests::varied_flow;
using tare::npb::Arguments;
using tare::npb::Messages;
using tare::npb::runnable;
using tare::npb::Simd;
using tare::npb::World;

namespace {

/// Residual and field at all points after some steps, and the norms.
struct Flow {
    std::vector<Point> residual{};
    std::vector<Point> field{};
    lu::Norms residual_norms{};
    lu::Norms error_norms{};
    double surface_integral = 0;

    bool operator==(const Flow&) const = default;
};

Flow flow_after_steps(const Block& block, Simd simd, int threads) {
    constexpr double time_step = 0.01;
    lu::Ssor ssor{block, time_step, simd, threads};
    ssor.set_forcing();
    ssor.set_field(varied_flow);
    for (int step = 0; step < 3; ++step) {
        ssor.step();
    }
    lu::GroupField& residual = ssor.residual();
    Flow found{.residual_norms = lu::residual_norms(residual, block, ssor.team()),
               .error_norms = lu::error_norms(ssor.field(), block, ssor.team()),
               .surface_integral = lu::surface_integral(ssor.field(), block, ssor.team())};
    for (int z = 0; z < block.z.count; ++z) {
        for (int y = 0; y < block.y.count; ++y) {
            for (int x = 0; x < block.x.count; ++x) {
                found.residual.push_back(group_point(ssor.layout(), residual, x, y, z));
                found.field.push_back(ssor.field().point(x, y, z));
            }
        }
    }
    return found;
}

/// What class S computes, in all ranks together.
std::vector<double> computed(const World& world, Simd simd, int threads, Messages messages = Messages::own) {
    Arguments arguments;
    arguments.messages = messages;
    arguments.simd = simd;
    arguments.threads = threads;
    std::vector<double> found;
    for (const tare::npb::Check& check : lu::kernel.run(arguments, world).checks) {
        found.push_back(check.computed);
    }
    return found;
}

}  // namespace

TEST_CASE("LU's answer is the same bit by bit with any number of threads, on blocks of any shape") {
    constexpr int edge = 24;
    constexpr std::array<std::array<int, 3>, 4> shapes{{{19, 17, 7}, {9, 20, 5}, {20, 3, 6}, {2, 1, 3}}};
    for (const Simd simd : runnable()) {
        for (const auto& [x, y, z] : shapes) {
            const Block block = block_of(x, y, z, edge);
            const Flow alone = flow_after_steps(block, simd, 1);
            for (const int threads : {2, 3, 8}) {
                CHECK(flow_after_steps(block, simd, threads) == alone);
            }
        }
    }
}

TEST_CASE("ranks of the run solve LU's class S bit by bit alike with any number of threads in each") {
    const World world = World::of(MPI_COMM_WORLD);
    for (const Simd simd : runnable()) {
        const std::vector<double> alone = computed(world, simd, 1);
        for (const int threads : {2, 3}) {
            CHECK(computed(world, simd, threads) == alone);
        }
    }
}

TEST_CASE("ranks of the run, LU's first two, send the reference's messages with any number of threads") {
    const World world = World::of(MPI_COMM_WORLD);
    const tare::npb::Communicator two = tare::npb::first_ranks(world, 2);
    if (two.has_part()) {
        const World part = World::of(two.get());
        const std::vector<double> alone = computed(part, Simd::plain, 1, Messages::reference);
        CHECK(computed(part, Simd::plain, 3, Messages::reference) == alone);
        const std::vector<double> own = computed(part, Simd::plain, 1);
        for (std::size_t number = 0; number < own.size(); ++number) {
            CHECK(alone[number] == doctest::Approx(own[number]).epsilon(1e-11));
        }
    }
}

TEST_CASE(
    "LU's pencils cover a plane, each of at least one diagonal, and are even where diagonals are many") {
    for (const int most : {1, 2, 3, 5, 40}) {
        const Layout layout{12, 9};
        const std::vector<Mesh> pencils = layout.pencils(most);
        CHECK(pencils.size() == static_cast<std::size_t>(std::min(most, 12 + 9 - 1)));
        int end = 0;
        for (const Mesh& pencil : pencils) {
            CHECK(pencil.first == end);
            CHECK(pencil.end > pencil.first);
            end = pencil.end;
        }
        CHECK(end == 12 + 9 - 1);
    }
    const Layout layout{62, 62};
    const Mesh half = layout.pencils(2).front();
    CHECK(half.end >= 61);
    CHECK(half.end <= 62);
}

TEST_CASE("each point of a row along a block's edge lies in one pencil, that of its diagonal") {
    const Layout layout{12, 9};
    const int first_diagonal = 11;  // of the points at the largest x
    int next = 0;
    for (const Mesh& pencil : layout.pencils(4)) {
        const lu::Points points = pencil.points_of_row(first_diagonal, 9);
        CHECK(points.first == (points.end > points.first ? next : points.first));
        for (int y = points.first; y < points.end; ++y, ++next) {
            CHECK(first_diagonal + y >= pencil.first);
            CHECK(first_diagonal + y < pencil.end);
        }
    }
    CHECK(next == 9);
}

TEST_CASE("a thread of LU follows its neighbour, and is never more than some planes ahead of it") {
    lu::ThreadPipeline pipeline{3, Direction::down};
    pipeline.restart();
    // Falling, the last pencil is the first one.
    CHECK(pipeline.is_free(2, 0));
    CHECK_FALSE(pipeline.is_free(1, 0));
    CHECK(pipeline.received(2, 0) == nullptr);
    CHECK(pipeline.to_send(0, 0) == nullptr);
    CHECK(pipeline.to_send(2, 0) == pipeline.received(1, 0));
    int stage = 0;
    for (; stage < 100 && pipeline.is_free(2, stage); ++stage) {
        pipeline.has_done(2, stage);
    }
    CHECK(stage > 1);
    CHECK(stage < 10);
    CHECK(pipeline.is_free(1, stage - 1));
    pipeline.has_done(1, 0);
    CHECK(pipeline.is_free(2, stage));
    CHECK(pipeline.is_free(0, 0));
    CHECK(pipeline.complete() == 0);
    pipeline.has_done(0, 0);
    CHECK(pipeline.complete() == 1);
}
