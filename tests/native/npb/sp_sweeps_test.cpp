// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/common/simd.hpp"
#include "npb/flow/exact.hpp"
#include "npb/flow/forcing.hpp"
#include "npb/flow/right_hand_side.hpp"
#include "npb/sp/matrices.hpp"
#include "npb/sp/sweeps.hpp"

using tare::npb::Buffer;
using tare::npb::runnable;
using tare::npb::Simd;
using tare::npb::flow::Block;
using tare::npb::flow::Extent;
using tare::npb::flow::Field;
using tare::npb::flow::Point;
using tare::npb::flow::View;
using tare::npb::sp::Matrices;

// Sweeps take pointers; what the ranks of a run do one after the other happens here in one.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*)
namespace {

constexpr double time_step = 0.01;

std::size_t product(int first, int second, int third) {
    return static_cast<std::size_t>(first) * static_cast<std::size_t>(second) *
           static_cast<std::size_t>(third);
}

/// A view of the same memory from another place on.
template <typename Number>
View<Number> from(const View<Number>& view, int z, int y) {
    return {.origin = view.at(z, y), .component = view.component, .row = view.row, .plane = view.plane};
}

/// All that the sweeps need of a cube in one rank, before the first sweep.
struct Cube {
    tare::npb::sp::Functions functions;
    int edge;
    Block block;
    Field field;
    Field result;
    Buffer<double> links;
    Buffer<double> scratch;

    Cube(int edge_, Simd simd)
        : functions{tare::npb::sp::functions(simd)},
          edge{edge_},
          block{Extent::part(edge, 1, 0), Extent::part(edge, 1, 0), Extent::part(edge, 1, 0)},
          field{block, Field::Border::ghosts},
          result{block, Field::Border::none},
          links{product(edge + 2, tare::npb::sp::link_quantities, width())},
          scratch{product(tare::npb::sp::row_numbers, functions.lanes, width())} {
        tare::npb::Team team{1};
        tare::npb::flow::set_initial(field, team);
        const Field forcing = tare::npb::flow::forcing(block, simd, team);
        for (int z = 1; z < edge - 1; ++z) {
            tare::npb::flow::functions(simd).right_hand_side(block, time_step, field.view(), forcing.view(),
                                                             {.z = z, .y_begin = 1, .y_end = edge - 1},
                                                             result.view());
        }
    }

    [[nodiscard]] int width() const { return (edge + 7) / 8 * 8; }

    [[nodiscard]] View<double> links_view() {
        const std::ptrdiff_t row = std::ptrdiff_t{tare::npb::sp::link_quantities} * width();
        return {.origin = links.data() + row, .component = width(), .row = row, .plane = 0};
    }
};

/// One part of the axis that is split.
struct Part {
    Matrices matrices;
    Buffer<double> kept;
    int first;
};

std::vector<Part> parts_of(const Cube& cube, int count, bool along_y) {
    std::vector<Part> parts;
    for (int index = 0; index < count; ++index) {
        Block block = cube.block;
        Extent& extent = along_y ? block.y : block.z;
        extent = Extent::part(cube.edge, count, index);
        const int kept = along_y ? tare::npb::sp::kept_y : tare::npb::sp::kept_z;
        parts.push_back({.matrices = Matrices{block, time_step},
                         .kept = Buffer<double>{product(kept, cube.functions.lanes, extent.count)},
                         .first = extent.first});
    }
    return parts;
}

/// Calls `forward(part, state)` for each part, then `backward` the other way round, each with the state that
/// the one before it left.
template <typename Forward, typename Backward>
void there_and_back(const Cube& cube, std::vector<Part>& parts, Forward&& forward, Backward&& backward) {
    const auto lanes = static_cast<std::size_t>(cube.functions.lanes);
    Buffer<double> state{tare::npb::sp::forward_state * lanes};
    for (Part& part : parts) {
        forward(part, state.data());
    }
    Buffer<double> state_back{tare::npb::sp::backward_state * lanes};
    for (std::size_t index = parts.size(); index > 0; --index) {
        backward(parts[index - 1], state_back.data());
    }
}

/// A step of the whole cube, in so many parts along y and along z.
void step(Cube& cube, int count) {
    const Matrices whole{cube.block, time_step};
    const auto& functions = cube.functions;
    const auto links = cube.links_view();
    auto parts_y = parts_of(cube, count, true);
    auto parts_z = parts_of(cube, count, false);
    for (int z = 1; z < cube.edge - 1; ++z) {
        functions.link_y(whole.scheme(), cube.field.view(), z, 0, links);
        functions.link_y(whole.scheme(), cube.field.view(), z, cube.edge - 1, links);
        functions.solve_x(whole.scheme(), cube.field.view(), {.z = z, .y_begin = 1, .y_end = cube.edge - 1},
                          cube.result.view(), links, cube.scratch.data());
        for (int x = 0; x < cube.width(); x += functions.lanes) {
            there_and_back(
                cube, parts_y,
                [&](Part& part, double* state) {
                    functions.forward_y(part.matrices.scheme(), from(links, 0, part.first), z, x,
                                        from(cube.result.view(), 0, part.first), state, part.kept.data());
                },
                [&](Part& part, double* state) {
                    functions.backward_y(part.matrices.scheme(), z, x,
                                         from(cube.result.view(), 0, part.first), state, part.kept.data());
                });
        }
    }
    for (int y = 1; y < cube.edge - 1; ++y) {
        for (int x = 0; x < cube.width(); x += functions.lanes) {
            there_and_back(
                cube, parts_z,
                [&](Part& part, double* state) {
                    functions.forward_z(part.matrices.scheme(), from(cube.field.view(), part.first, 0),
                                        from(cube.result.view(), part.first, 0), y, x, state,
                                        part.kept.data());
                },
                [&](Part& part, double* state) {
                    functions.backward_z(part.matrices.scheme(), from(cube.field.view(), part.first, 0), y, x,
                                         state, part.kept.data());
                });
        }
    }
}

double largest_difference(const Field& one, const Field& other) {
    const int edge = one.block().x.edge;
    double found = 0;
    for (int z = 0; z < edge; ++z) {
        for (int y = 0; y < edge; ++y) {
            for (int x = 0; x < edge; ++x) {
                const Point here = one.point(z, y, x);
                const Point there = other.point(z, y, x);
                for (std::size_t component = 0; component < here.size(); ++component) {
                    found = std::max(found, std::abs(here[component] - there[component]));
                }
            }
        }
    }
    return found;
}

}  // namespace

TEST_CASE("sweeps over parts of an axis, handed on from part to part, give what one sweep gives") {
    constexpr int edge = 13;
    for (const Simd simd : runnable()) {
        Cube whole{edge, simd};
        step(whole, 1);
        for (const int count : {2, 3}) {
            Cube split{edge, simd};
            step(split, count);
            CHECK(largest_difference(split.field, whole.field) < 1e-11);
        }
    }
}
// NOLINTEND(cppcoreguidelines-pro-bounds-*)
