// SPDX-License-Identifier: Apache-2.0
// These tests hold on any number of ranks: each looks at the points that it has.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <tuple>
#include <vector>

#include "npb/common/random.hpp"
#include "npb/ft/checksum.hpp"
#include "npb/ft/fft3d.hpp"
#include "npb/ft/pencils.hpp"

using namespace tare::npb;
using namespace tare::npb::ft;

namespace {

using Value = std::complex<double>;

constexpr double precise = 1e-12;

/// exp(2 pi i index / length).
Value wave(std::int64_t index, std::int64_t length) {
    return std::polar(
        1.0, 2.0 * std::numbers::pi * static_cast<double>(index % length) / static_cast<double>(length));
}

/// Without any order, and the same in every rank.
Value scattered(int x, int y, int z) {
    Random random{static_cast<std::uint64_t>(1 + x + 1000 * y + 1000000 * z)};
    random.jump(5);
    const double re = random.next();
    return {re - 0.5, random.next() - 0.5};
}

void put(double* row, int x, Value value) {
    double* const place = row + x / block_points * block_doubles + x % block_points;
    place[0] = value.real();
    place[block_points] = value.imag();
}

Value get(const double* row, int x) {
    const double* const place = row + x / block_points * block_doubles + x % block_points;
    return {place[0], place[block_points]};
}

template <typename Function>
FieldSource source_of(const Edges& edges, Function function) {
    return [=](int z, int y, double* to) {
        for (int x = 0; x < edges.x; ++x) {
            put(to, x, function(x, y, z));
        }
    };
}

template <typename Visit>
void for_each_point(const Edges& edges, Visit visit) {
    for (int z = 0; z < edges.z; ++z) {
        for (int y = 0; y < edges.y; ++y) {
            for (int x = 0; x < edges.x; ++x) {
                visit(x, y, z);
            }
        }
    }
}

double sum_of_ranks(double value, const World& world) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, world.communicator);
    return value;
}

/// A box of all ranks, or of each rank alone.
struct Case {
    explicit Case(const Edges& sizes, Simd simd = runnable().back(), MPI_Comm communicator = MPI_COMM_WORLD,
                  int threads = 1, Messages messages = Messages::own)
        : team{threads},
          edges{sizes},
          world{World::of(communicator)},
          fft{Decomposition::of(sizes, world, messages), world, messages, simd, team, times} {
        fft.make_tables();
    }

    /// There and back.
    void transform(int time) {
        fft.transform_forward(source_of(edges, scattered));
        fft.transform_inverse(Evolution{edges, time});
    }

    [[nodiscard]] Value point(int x, int y, int z) const {
        const double* const place = fft.point(x, y, z);
        return {place[0], place[block_points]};
    }

    [[nodiscard]] Value checksum() { return Checksum{fft, edges}.here(team); }

    PartTimes times{{"tables", "xy", "yz", "transpose", "checksum"}};
    Team team;
    Edges edges;
    World world;
    Fft3d fft;
};

constexpr Edges small{64, 32, 8};

/// Whether two boxes agree, bit by bit, where a rank has points or coefficients of both.
bool is_same(const Case& one, const Case& other) {
    bool same = true;
    for_each_point(one.edges, [&](int x, int y, int z) {
        if (one.fft.spectrum().has(x, y) && other.fft.spectrum().has(x, y)) {
            same = same && one.fft.spectrum().at(x, y, z) == other.fft.spectrum().at(x, y, z);
        }
        if (one.fft.has_row(y, z) && other.fft.has_row(y, z)) {
            same = same && one.point(x, y, z) == other.point(x, y, z);
        }
    });
    return same;
}

/// The largest error of a transform of four lines of `blocks` blocks against the sum that defines it.
double column_error(int length, Simd simd, Direction direction, int blocks, bool is_streamed) {
    const LinePlan plan{length};
    const std::ptrdiff_t row = (blocks + group_blocks) * block_doubles;
    Buffer<double> from(static_cast<std::size_t>(length * row));
    Buffer<double> to(from.size());
    Buffer<double> work(static_cast<std::size_t>(length * work_element_doubles(group_blocks)));
    std::vector<double*> from_rows;
    std::vector<double*> to_rows;
    for (int element = 0; element < length; ++element) {
        from_rows.push_back(from.data() + element * row);
        to_rows.push_back(to.data() + element * row);
        for (int x = 0; x < blocks * block_points; ++x) {
            put(from_rows.back(), x, scattered(x, element, 0));
        }
    }
    Prefetch prefetch;
    functions(simd).transform_columns({.line = &plan.line(),
                                       .from = {from_rows.data(), 0, group_doubles},
                                       .to = {to_rows.data(), 0, group_doubles},
                                       .blocks = blocks,
                                       .direction = direction,
                                       .is_streamed = is_streamed,
                                       .work = work.data(),
                                       .prefetch = &prefetch});
    double error = 0;
    for (const int x : {0, 3, blocks * int{block_points} - 1}) {
        for (int k = 0; k < length; ++k) {
            Value sum;
            for (int element = 0; element < length; ++element) {
                const std::int64_t turn = std::int64_t{k} * element;
                const Value root = wave(turn, length);
                sum += scattered(x, element, 0) * (direction == Direction::inverse ? root : std::conj(root));
            }
            error = std::max(error, std::abs(sum - get(to_rows[static_cast<std::size_t>(k)], x)));
        }
    }
    return error;
}

}  // namespace

TEST_CASE("FT: a transform of a line is the sum that defines it, in every vector width") {
    for (const Simd simd : runnable()) {
        for (int length = shortest_line; length <= 512; length *= 2) {
            CHECK(column_error(length, simd, Direction::forward, 6, false) < precise);
            CHECK(column_error(length, simd, Direction::inverse, 1, true) < precise);
            CHECK(column_error(length, simd, Direction::forward, 6, true) < precise);
        }
    }
}

TEST_CASE("FT: the inverse of the forward transform is the field times its points, in every vector width") {
    for (const Simd simd : runnable()) {
        for (const Edges& edges :
             {small, Edges{64, 32, 4}, Edges{128, 64, 16}, Edges{512, 32, 4}, Edges{64, 32, 256}}) {
            Case one{edges, simd};
            one.fft.transform_forward(source_of(edges, scattered));
            one.fft.transform_inverse(Evolution{edges, 0});
            double error = 0;
            for_each_point(edges, [&](int x, int y, int z) {
                if (one.fft.has_row(y, z)) {
                    error =
                        std::max(error, std::abs(one.point(x, y, z) / edges.points() - scattered(x, y, z)));
                }
            });
            CHECK(error < precise);
        }
    }
}

TEST_CASE("FT: the spectrum holds as much energy as the field (Parseval)") {
    Case one{small};
    one.fft.transform_forward(source_of(small, scattered));
    double of_field = 0;
    double of_spectrum = 0;
    for_each_point(small, [&](int x, int y, int z) {
        of_field += std::norm(scattered(x, y, z));
        if (one.fft.spectrum().has(x, y)) {
            of_spectrum += std::norm(one.fft.spectrum().at(x, y, z));
        }
    });
    CHECK(sum_of_ranks(of_spectrum, one.world) / small.points() ==
          doctest::Approx(of_field).epsilon(precise));
}

TEST_CASE("FT: a plane wave has one coefficient, at its wave numbers") {
    constexpr std::array<std::array<int, 3>, 3> waves{{{0, 0, 0}, {63, 1, 4}, {13, 29, 7}}};
    for (const auto& [kx, ky, kz] : waves) {
        Case one{small};
        one.fft.transform_forward(source_of(small, [=](int x, int y, int z) {
            return wave(x * kx, small.x) * wave(y * ky, small.y) * wave(z * kz, small.z);
        }));
        double error = 0;
        for_each_point(small, [&](int x, int y, int z) {
            const bool is_it = x == kx && y == ky && z == kz;
            if (one.fft.spectrum().has(x, y)) {
                error = std::max(
                    error, std::abs(one.fft.spectrum().at(x, y, z) / small.points() - (is_it ? 1.0 : 0.0)));
            }
        });
        CHECK(error < precise);
    }
}

TEST_CASE("FT: a plane wave decays as diffusion says, and the others do not appear") {
    Case one{small};
    one.fft.transform_forward(
        source_of(small, [](int x, int /*y*/, int /*z*/) { return wave(3 * x, small.x); }));
    const double factor = std::exp(-4e-6 * std::numbers::pi * std::numbers::pi * 9 * 1000);
    one.fft.transform_inverse(Evolution{small, 1000});
    double error = 0;
    for_each_point(small, [&](int x, int y, int z) {
        if (one.fft.has_row(y, z)) {
            error = std::max(error,
                             std::abs(one.point(x, y, z) / small.points() - factor * wave(3 * x, small.x)));
        }
    });
    CHECK(error < precise);
}

TEST_CASE("FT: evolving twice is evolving for the sum of the times, with wave numbers folded") {
    const Evolution first{small, 3};
    const Evolution second{small, 4};
    const Evolution both{small, 7};
    for (std::size_t k = 0; k < small.x; ++k) {
        CHECK(first.x()[k] * second.x()[k] == doctest::Approx(both.x()[k]).epsilon(precise));
        CHECK(both.x()[k] == both.x()[(small.x - k) % small.x]);
    }
    CHECK(both.x()[0] == 1.0);
    CHECK(both.y(small.y - 1) == both.y(1));
    CHECK(both.y(1) == both.z()[1]);
}

TEST_CASE("FT: the spectrum and the field do not depend on how the box is cut") {
    Case cut{small};
    Case whole{small, runnable().back(), MPI_COMM_SELF};
    cut.transform(5);
    whole.transform(5);
    CHECK(is_same(cut, whole));
    const Value sum = cut.checksum();
    const Value of_all{sum_of_ranks(sum.real(), cut.world), sum_of_ranks(sum.imag(), cut.world)};
    CHECK(std::abs(of_all - whole.checksum()) < precise);
}

TEST_CASE("FT: the answer does not depend on the number of threads, bit by bit") {
    constexpr Edges few_pieces{64, 32, 4};
    constexpr Edges streamed{128, 64, 64};
    for (const Edges& edges : {few_pieces, small, streamed}) {
        Case one{edges};
        one.transform(5);
        for (const int threads : {2, 3}) {
            Case shared{edges, runnable().back(), MPI_COMM_WORLD, threads};
            // The second time in memory that holds the first one's.
            shared.transform(1);
            shared.transform(5);
            CHECK(is_same(one, shared));
            CHECK(one.checksum() == shared.checksum());
        }
    }
}

TEST_CASE("FT: the checksum is the sum of the 1024 points that NPB names") {
    Case one{small};
    one.fft.transform_forward(source_of(small, scattered));
    one.fft.transform_inverse(Evolution{small, 0});
    Value wanted;
    for (int point = 1; point <= 1024; ++point) {
        wanted += scattered(point % small.x, 3 * point % small.y, 5 * point % small.z);
    }
    const Value sum = one.checksum();
    const Value of_all{sum_of_ranks(sum.real(), one.world), sum_of_ranks(sum.imag(), one.world)};
    CHECK(std::abs(of_all - wanted) < precise * 1024);
}

TEST_CASE("FT: an inverse transform leaves the spectrum, so that each iteration begins with the same one") {
    Case one{small};
    one.fft.transform_forward(source_of(small, scattered));
    one.fft.transform_inverse(Evolution{small, 7});
    const Value first = one.checksum();
    one.fft.transform_inverse(Evolution{small, 90000});
    CHECK((sum_of_ranks(std::abs(one.checksum() - first), one.world) > 0.1));
    one.fft.transform_inverse(Evolution{small, 7});
    CHECK(one.checksum() == first);
}

TEST_CASE("FT: the initial field is one sequence of random numbers, wherever it is entered") {
    constexpr int points = 192;
    constexpr std::uint64_t jump = 640;
    for (const Simd simd : runnable()) {
        Random random{314159265};
        random.jump(jump);
        Buffer<double> row(std::size_t{2} * points);
        functions(simd).fill(random.state(), points, row.data());
        bool is_same = true;
        for (int x = 0; x < points; ++x) {
            const double re = random.next();
            is_same = is_same && get(row.data(), x) == Value{re, random.next()};
        }
        CHECK(is_same);
    }
}

TEST_CASE("FT: shares are no longer than the largest and belong to their owners") {
    for (const int total : {4, 7, 64, 100}) {
        for (int parts = 1; parts <= total; ++parts) {
            for (int index = 0; index < parts; ++index) {
                const Share<int> share = share_of(total, parts, index);
                CHECK(share.count <= largest_share(total, parts));
                CHECK(owner_of(total, parts, share.first) == index);
                CHECK(owner_of(total, parts, share.first + share.count - 1) == index);
            }
        }
    }
}

TEST_CASE("FT: planes are shared by ranks only where there are more ranks than planes or butterflies") {
    CHECK(cut_for({64, 64, 64}, 3).inner == 1);
    CHECK(cut_for({64, 64, 64}, 8).inner == 1);
    CHECK(cut_for({128, 128, 32}, 18).inner == 2);
    CHECK(cut_for({64, 64, 4}, 32).inner == 8);
    CHECK_THROWS_AS(cut_for({64, 64, 4}, 33), WrongUse);
    CHECK_THROWS_AS(cut_for({64, 64, 64}, 67), WrongUse);
}

TEST_CASE("FT: with the reference's messages no planes are shared, and more ranks than butterflies cut x") {
    for (const auto& [edges, ranks, inner] :
         {std::tuple{Edges{64, 64, 64}, 8, 1}, std::tuple{Edges{64, 64, 64}, 16, 2},
          std::tuple{Edges{64, 64, 64}, 64, 8}, std::tuple{Edges{128, 128, 32}, 32, 2}}) {
        const Cut cut = reference_cut_for(edges, ranks);
        CHECK(cut.inner == inner);
        CHECK(cut.outer * inner == ranks);
        CHECK(cut.sharing == 1);
    }
    CHECK_THROWS_AS(reference_cut_for({128, 128, 32}, 64), WrongUse);
    CHECK_THROWS_AS(reference_cut_for({64, 32, 64}, 64), WrongUse);
    CHECK_THROWS_AS(reference_cut_for({64, 64, 64}, 6), WrongUse);
}

TEST_CASE("ranks of the run: FT's spectrum and field are the same with the reference's messages") {
    const World world = World::of(MPI_COMM_WORLD);
    const Communicator pair = first_ranks(world, std::min(world.ranks, 2));
    if (pair.has_part()) {
        for (const int threads : {1, 2}) {
            Case whole{small, runnable().back(), MPI_COMM_SELF};
            Case cut{small, runnable().back(), pair.get(), threads, Messages::reference};
            whole.transform(5);
            cut.transform(1);
            cut.transform(5);
            CHECK(is_same(cut, whole));
        }
    }
}

TEST_CASE("FT: every class's checksums verify themselves, and nothing off by more than NPB allows") {
    for (const Class& one : classes) {
        Arguments arguments;
        arguments.problem_class = one.name;
        std::vector<Value> sums;
        for (const auto& sum : one.checksums) {
            sums.emplace_back(sum.re, sum.im);
        }
        CHECK(verdict(checks(arguments, sums)) == Verification::successful);
        sums.back() += Value{0, 1.01e-12 * std::abs(sums.back())};
        CHECK(verdict(checks(arguments, sums)) == Verification::unsuccessful);
        Arguments own = arguments;
        own.settings["iterations"] = static_cast<double>(sums.size());
        CHECK(verdict(checks(own, sums)) == Verification::not_performed);
        sums.back() = Value{std::nan(""), 0};
        CHECK(verdict(checks(arguments, sums)) == Verification::unsuccessful);
        CHECK(verdict(checks(own, sums)) == Verification::unsuccessful);
    }
}
