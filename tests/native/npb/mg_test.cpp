// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "npb/common/arguments.hpp"
#include "npb/common/random.hpp"
#include "npb/common/simd.hpp"
#include "npb/common/team.hpp"
#include "npb/mg/charges.hpp"
#include "npb/mg/field.hpp"
#include "npb/mg/layout.hpp"
#include "npb/mg/multigrid.hpp"
#include "npb/mg/operators.hpp"
#include "npb/mg/sweep.hpp"
#include "npb/mg/tiles.hpp"

// NOLINTBEGIN(readability-identifier-length): the field calls its grids u, v, r, z and its axes x, y, z
using namespace tare::npb;
using namespace tare::npb::mg;

namespace {

const World alone{.communicator = MPI_COMM_SELF};

/// A periodic cube, slow and plain: what the kernel's results are held against.
class Cube {
  public:
    explicit Cube(int edge)
        : edge_{edge}, values_(static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge * edge)) {}

    double& at(int z, int y, int x) { return values_[place(z, y, x)]; }
    [[nodiscard]] double at(int z, int y, int x) const { return values_[place(z, y, x)]; }
    [[nodiscard]] int edge() const { return edge_; }
    [[nodiscard]] const std::vector<double>& values() const { return values_; }

    template <typename Work>
    void each(const Work& work) {
        for (int z = 0; z < edge_; ++z) {
            for (int y = 0; y < edge_; ++y) {
                for (int x = 0; x < edge_; ++x) {
                    at(z, y, x) = work(z, y, x);
                }
            }
        }
    }

  private:
    [[nodiscard]] std::size_t place(int z, int y, int x) const {
        const auto inside = [&](int index) { return static_cast<std::size_t>(index & (edge_ - 1)); };
        const auto edge = static_cast<std::size_t>(edge_);
        return (inside(z) * edge + inside(y)) * edge + inside(x);
    }

    int edge_;
    std::vector<double> values_;
};

Cube random_cube(int edge, std::uint64_t seed) {
    Random random{seed};
    Cube cube{edge};
    cube.each([&](int, int, int) { return random.next() - 0.5; });
    return cube;
}

Cube constant_cube(int edge, double value) {
    Cube cube{edge};
    cube.each([&](int, int, int) { return value; });
    return cube;
}

/// The weighted sum of the 27 points around (z, y, x).
double around(const Cube& cube, const Weights& weights, int z, int y, int x) {
    const std::array by_distance{weights.centre, weights.face, weights.edge, weights.corner};
    double sum = 0;
    for (int step = 0; step < 27; ++step) {
        const int dz = step / 9 - 1;
        const int dy = step / 3 % 3 - 1;
        const int dx = step % 3 - 1;
        const int distance = std::abs(dz) + std::abs(dy) + std::abs(dx);
        sum += by_distance.at(static_cast<std::size_t>(distance)) * cube.at(z + dz, y + dy, x + dx);
    }
    return sum;
}

Cube plus_operator(const Cube& base, const Cube& cube, const Weights& weights) {
    Cube result{cube.edge()};
    result.each([&](int z, int y, int x) { return base.at(z, y, x) + around(cube, weights, z, y, x); });
    return result;
}

Cube prolonged(const Cube& coarse) {
    Cube result{2 * coarse.edge()};
    result.each([&](int z, int y, int x) {
        double sum = 0;
        for (int corner = 0; corner < 8; ++corner) {
            sum += coarse.at((z + corner / 4) / 2, (y + corner / 2 % 2) / 2, (x + corner % 2) / 2) / 8;
        }
        return sum;
    });
    return result;
}

Cube restricted(const Cube& fine) {
    constexpr Weights weights{.centre = 0.5, .face = 0.25, .edge = 0.125, .corner = 0.0625};
    Cube result{fine.edge() / 2};
    result.each([&](int z, int y, int x) { return around(fine, weights, 2 * z, 2 * y, 2 * x); });
    return result;
}

void fill(Field& field, const Cube& cube) {
    for (int z = -field.halo().below; z < field.planes() + field.halo().above; ++z) {
        for (int y = 0; y < cube.edge(); ++y) {
            for (int x = 0; x < row_length(cube.edge()); ++x) {
                *std::next(field.grid().row(z, y), x) = cube.at(z, y, x);
            }
        }
    }
}

Cube cube_of(Field& field) {
    Cube cube{field.block().edge};
    cube.each([&](int z, int y, int x) { return *std::next(field.grid().row(z, y), x); });
    return cube;
}

double largest_difference(const Cube& left, const Cube& right) {
    double largest = 0;
    for (std::size_t place = 0; place < left.values().size(); ++place) {
        largest = std::max(largest, std::abs(left.values()[place] - right.values()[place]));
    }
    return largest;
}

double dot(const Cube& left, const Cube& right) {
    double sum = 0;
    for (std::size_t place = 0; place < left.values().size(); ++place) {
        sum += left.values()[place] * right.values()[place];
    }
    return sum;
}

Block whole(int edge) {
    const Span all{.points = {.first = 0, .count = edge}};
    return {.edge = edge, .spans = {all, all, all}};
}

/// A grid of `edge`^3 points and the one below it, with their fields.
struct TwoGrids {
    explicit TwoGrids(int edge)
        : u{whole(edge), solution_halo},
          v{whole(edge), right_side_halo},
          z{whole(edge / 2), coarse_solution_halo},
          r{whole(edge / 2), coarse_right_side_halo} {}

    double sweep(const SweepOrder& order, const Tiles& tiles, Simd simd = runnable().back(),
                 int threads = 1) {
        Team team{threads};
        Sweep sweep{functions(simd), smoother_a, tiles, tiles.edge(), team};
        return sweep.run({.solution = u.grid(),
                          .right_side = v.grid(),
                          .planes = tiles.edge(),
                          .correction = z.grid(),
                          .restricted = r.grid()},
                         order);
    }

    Field u;
    Field v;
    Field z;
    Field r;
};

constexpr double rounding = 1e-13;

}  // namespace

TEST_CASE("any tiles give in one sweep what the operators give one after the other") {
    for (const Tiles tiles :
         {Tiles{2, 1}, Tiles{4, 1}, Tiles{16, 1}, Tiles{32, 4}, Tiles{32, 3}, Tiles{32, 2}, Tiles{32, 1}}) {
        const int edge = tiles.edge();
        TwoGrids grids{edge};
        const Cube u = random_cube(edge, 1);
        const Cube v = random_cube(edge, 2);
        const Cube z = random_cube(edge / 2, 3);
        fill(grids.u, u);
        fill(grids.v, v);
        fill(grids.z, z);
        const double sum =
            grids.sweep({.improves = true, .adds = true, .restricts = true, .measures = true}, tiles);

        Cube expected = prolonged(z);
        expected.each([&](int k, int j, int i) { return u.at(k, j, i) + expected.at(k, j, i); });
        expected = plus_operator(expected, plus_operator(v, expected, minus_laplacian), smoother_a);
        const Cube residual = plus_operator(v, expected, minus_laplacian);
        CHECK(largest_difference(cube_of(grids.u), expected) < rounding);
        CHECK(largest_difference(cube_of(grids.r), restricted(residual)) < rounding);
        if (edge >= shortest_row) {
            CHECK(sum == doctest::Approx(dot(residual, residual)));
        }
    }
}

TEST_CASE("a coarser grid's sweep replaces what the solution held") {
    const Tiles tiles{16, 2};
    TwoGrids grids{16};
    const Cube v = random_cube(16, 2);
    const Cube z = random_cube(8, 3);
    fill(grids.u, constant_cube(16, 1e9));
    fill(grids.v, v);
    fill(grids.z, z);
    grids.sweep({.improves = true}, tiles);
    const Cube start = prolonged(z);
    const Cube expected = plus_operator(start, plus_operator(v, start, minus_laplacian), smoother_a);
    CHECK(largest_difference(cube_of(grids.u), expected) < rounding);
}

TEST_CASE("all vector widths agree to rounding") {
    const Tiles tiles{32, 4};
    const auto solution = [&](Simd simd) {
        TwoGrids grids{32};
        fill(grids.v, random_cube(32, 5));
        fill(grids.z, random_cube(16, 6));
        grids.sweep({.improves = true, .adds = true, .restricts = true}, tiles, simd);
        return cube_of(grids.u);
    };
    const Cube plain = solution(Simd::plain);
    for (const Simd simd : runnable()) {
        CHECK(largest_difference(solution(simd), plain) < rounding);
    }
}

TEST_CASE(
    "constants: the Laplacian gives zero, prolongation keeps them, restriction gives four times as much") {
    const Tiles tiles{16, 1};
    TwoGrids grids{16};
    fill(grids.u, constant_cube(16, 3));
    fill(grids.v, constant_cube(16, 5));
    const double sum = grids.sweep({.restricts = true, .measures = true}, tiles);
    CHECK(largest_difference(cube_of(grids.r), constant_cube(8, 4 * 5)) < rounding);
    CHECK(sum == doctest::Approx(16 * 16 * 16 * 5 * 5));

    fill(grids.v, constant_cube(16, 0));
    fill(grids.z, constant_cube(8, 7));
    grids.sweep({.improves = true}, tiles);
    CHECK(largest_difference(cube_of(grids.u), constant_cube(16, 7)) < rounding);
}

TEST_CASE("restriction is half of prolongation's transpose") {
    const Tiles tiles{16, 1};
    TwoGrids grids{16};
    const Cube fine = random_cube(16, 8);
    const Cube coarse = random_cube(8, 9);
    fill(grids.v, fine);
    grids.sweep({.restricts = true}, tiles);
    CHECK(dot(cube_of(grids.r), coarse) == doctest::Approx(dot(fine, prolonged(coarse)) / 2));
}

TEST_CASE("the residual falls with each V-cycle") {
    Team team{1};
    for (const Weights& smoother : {smoother_a, smoother_b}) {
        Multigrid multigrid{functions(runnable().back()), smoother, Messages::own, 32, alone, team};
        place_charges(multigrid.right_side(), Messages::own, alone, team);
        multigrid.start_from_zero();
        double norm = multigrid.first_residual();
        CHECK(norm == doctest::Approx(std::sqrt(20.0 / (32 * 32 * 32))));
        for (int cycles = 1; cycles < 6; ++cycles) {
            multigrid.start_from_zero();
            multigrid.first_residual();
            for (int cycle = 1; cycle < cycles; ++cycle) {
                multigrid.iterate();
            }
            const double next = multigrid.iterate_last();
            CHECK(next < 0.75 * norm);
            norm = next;
        }
    }
}

TEST_CASE("a right side shifted by half an edge has the same solution, shifted") {
    constexpr int edge = 16;
    Team team{1};
    const auto solution = [&](const Cube& right_side) {
        Multigrid multigrid{functions(runnable().back()), smoother_a, Messages::own, edge, alone, team};
        fill(multigrid.right_side(), right_side);
        multigrid.start_from_zero();
        multigrid.first_residual();
        multigrid.iterate();
        multigrid.iterate_last();
        return cube_of(multigrid.solution());
    };
    const auto shifted = [](const Cube& cube, int dz, int dy, int dx) {
        Cube result{edge};
        result.each([&](int z, int y, int x) { return cube.at(z + dz, y + dy, x + dx); });
        return result;
    };
    const Cube right_side = random_cube(edge, 11);
    const Cube expected = solution(right_side);
    for (const auto& [dz, dy, dx] : {std::array{8, 0, 0}, std::array{0, 8, 0}, std::array{0, 0, 8}}) {
        const Cube found = solution(shifted(right_side, dz, dy, dx));
        CHECK(largest_difference(found, shifted(expected, dz, dy, dx)) < rounding);
    }
}

TEST_CASE("ten charges of each sign, in the same places for any number of threads") {
    const auto charges_by = [](int threads) {
        Team team{threads};
        Field right_side{whole(32), right_side_halo};
        place_charges(right_side, Messages::own, alone, team);
        return cube_of(right_side);
    };
    const Cube charges = charges_by(1);
    CHECK(std::count(charges.values().begin(), charges.values().end(), 1.0) == 10);
    CHECK(std::count(charges.values().begin(), charges.values().end(), -1.0) == 10);
    CHECK(std::count(charges.values().begin(), charges.values().end(), 0.0) == 32 * 32 * 32 - 20);
    for (const int threads : {2, 3}) {
        CHECK(charges_by(threads).values() == charges.values());
    }
}

TEST_CASE("a sweep gives the same to the last bit with any number of threads") {
    const auto swept = [](const Tiles& tiles, int threads) {
        TwoGrids grids{tiles.edge()};
        fill(grids.u, random_cube(tiles.edge(), 1));
        fill(grids.v, random_cube(tiles.edge(), 2));
        fill(grids.z, random_cube(tiles.edge() / 2, 3));
        const SweepOrder all{.improves = true, .adds = true, .restricts = true, .measures = true};
        const double sum = grids.sweep(all, tiles, runnable().back(), threads);
        return std::tuple{sum, cube_of(grids.u).values(), cube_of(grids.r).values()};
    };
    for (const Tiles& tiles : {Tiles{16, 1}, Tiles{32, 3}, Tiles{32, 4}, Tiles{64, 8}}) {
        const auto by_one = swept(tiles, 1);
        for (const int threads : {2, 3, 5}) {
            CHECK(swept(tiles, threads) == by_one);
        }
    }
}

TEST_CASE("V-cycles give the same solution and norm, to rounding, with any number of threads") {
    constexpr int edge = 64;
    const auto solved = [](int threads) {
        Team team{threads};
        Multigrid multigrid{functions(runnable().back()), smoother_a, Messages::own, edge, alone, team};
        place_charges(multigrid.right_side(), Messages::own, alone, team);
        multigrid.start_from_zero();
        multigrid.first_residual();
        multigrid.iterate();
        const double norm = multigrid.iterate_last();
        return std::pair{norm, cube_of(multigrid.solution())};
    };
    const auto by_one = solved(1);
    for (const int threads : {2, 3}) {
        const auto by_many = solved(threads);
        CHECK(by_many.first == doctest::Approx(by_one.first).epsilon(rounding));
        CHECK(largest_difference(by_many.second, by_one.second) < rounding);
    }
}
// NOLINTEND(readability-identifier-length)
