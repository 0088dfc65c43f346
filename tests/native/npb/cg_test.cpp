// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "npb/cg/matrix.hpp"
#include "npb/cg/partition.hpp"
#include "npb/cg/solve.hpp"
#include "npb/cg/tiled_matrix.hpp"
#include "npb/cg/vector_kernels.hpp"
#include "npb/cg/verify.hpp"
#include "npb/common/team.hpp"

namespace cg = tare::npb::cg;
using tare::npb::Simd;
using tare::npb::Team;
using tare::npb::World;

namespace {

constexpr cg::Recipe small{.order = 500, .drawn = 5, .shift = 10};
/// Positive definite, so that rounding errors do not grow, and 25 steps leave more than rounding errors.
constexpr cg::Recipe slow{.order = 300, .drawn = 5, .shift = -1};
/// More rows than a row block has and more columns than a tile has.
constexpr cg::Recipe wide{.order = 7001, .drawn = 2, .shift = 12};

using Dense = std::vector<std::vector<double>>;

Dense dense(const cg::Recipe& recipe) {
    cg::Matrix matrix{recipe};
    const auto order = static_cast<std::size_t>(recipe.order);
    Dense rows(order, std::vector<double>(order, 0));
    for (std::size_t row = 0; row < order; ++row) {
        for (const auto& entry : matrix.row(static_cast<int>(row))) {
            rows[row][entry.place] += entry.value;
        }
    }
    return rows;
}

std::vector<double> some_vector(int order) {
    std::vector<double> vector(static_cast<std::size_t>(order));
    for (std::size_t place = 0; place < vector.size(); ++place) {
        vector[place] = std::cos(static_cast<double>(place));
    }
    return vector;
}

std::vector<double> product_by_rows(const cg::Recipe& recipe, const std::vector<double>& vector) {
    cg::Matrix matrix{recipe};
    std::vector<double> product(vector.size(), 0);
    for (std::size_t row = 0; row < product.size(); ++row) {
        for (const auto& entry : matrix.row(static_cast<int>(row))) {
            product[row] += entry.value * vector[entry.place];
        }
    }
    return product;
}

/// The rank's part of the vector, in the order in which the rank gathers it.
std::vector<double> gathered(const cg::GridShare& share, const std::vector<double>& vector) {
    std::vector<double> found(static_cast<std::size_t>(share.gathered_count()));
    const auto places = share.gathered_places(static_cast<int>(vector.size()));
    for (std::size_t column = 0; column < places.size(); ++column) {
        if (places[column] >= 0) {
            found[static_cast<std::size_t>(places[column])] = vector[column];
        }
    }
    return found;
}

/// Adds what one rank of a grid computes to the whole product.
void add_rank(const cg::TiledMatrix& tiled, const cg::GridShare& share, Simd simd,
              const std::vector<double>& vector, std::vector<double>& product) {
    const auto factors = gathered(share, vector);
    std::vector<double> rows(static_cast<std::size_t>(share.rows().count), 0);
    const auto functions = cg::product::functions(simd);
    for (int block = 0; block < tiled.row_blocks(); ++block) {
        functions.add(tiled.own_columns(block), factors.data(), rows.data());
        functions.add(tiled.other_columns(block), factors.data(), rows.data());
    }
    const auto first = static_cast<std::size_t>(share.rows().first);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        product[first + row] += rows[row];
    }
}

/// The product of the matrix as so many ranks hold it, with so many threads each.
std::vector<double> product_of_ranks(cg::Matrix& matrix, int ranks, int threads, Simd simd,
                                     const std::vector<double>& vector) {
    std::vector<double> product(vector.size(), 0);
    for (int rank = 0; rank < ranks; ++rank) {
        const auto share = cg::grid_share_of(matrix.order(), ranks, rank);
        add_rank(cg::TiledMatrix{matrix, share, threads}, share, simd, vector, product);
    }
    return product;
}

double largest_difference(const std::vector<double>& left, const std::vector<double>& right) {
    double largest = 0;
    for (std::size_t index = 0; index < left.size(); ++index) {
        largest = std::max(largest, std::abs(left[index] - right[index]));
    }
    return largest;
}

double dot(const std::vector<double>& left, const std::vector<double>& right) {
    return std::inner_product(left.begin(), left.end(), right.begin(), 0.0);
}

/// left + factor * right
std::vector<double> sum(const std::vector<double>& left, double factor, const std::vector<double>& right) {
    std::vector<double> found(left.size());
    std::ranges::transform(left, right, found.begin(),
                           [=](double one, double other) { return one + factor * other; });
    return found;
}

/// An outer step from `x`, which it changes, with so many inner steps; nothing fused.
cg::Estimate textbook_step(const cg::Recipe& recipe, int inner_steps, std::vector<double>& x) {
    std::vector<double> z(x.size(), 0);
    std::vector<double> residual = x;
    std::vector<double> direction = x;
    for (int step = 0; step < inner_steps; ++step) {
        const double square = dot(residual, residual);
        const std::vector<double> product = product_by_rows(recipe, direction);
        const double alpha = square / dot(direction, product);
        z = sum(z, alpha, direction);
        residual = sum(residual, -alpha, product);
        direction = sum(residual, dot(residual, residual) / square, direction);
    }
    const std::vector<double> rest = sum(x, -1, product_by_rows(recipe, z));
    const cg::Estimate estimate{.zeta = recipe.shift + 1 / dot(x, z), .residual = std::sqrt(dot(rest, rest))};
    x = sum(std::vector<double>(x.size(), 0), 1 / std::sqrt(dot(z, z)), z);
    return estimate;
}

}  // namespace

TEST_CASE("CG's random vectors hold distinct places, and 0.5 at their own") {
    const auto vectors = cg::random_vectors(small.order, small.drawn);
    REQUIRE(vectors.count() == 500);
    for (std::uint32_t index = 0; index < vectors.count(); ++index) {
        std::vector<std::uint32_t> places;
        for (const auto& entry : vectors[index]) {
            places.push_back(entry.place);
            CHECK(entry.place < 500);
            CHECK((entry.value > 0 && entry.value < 1));
            CHECK((entry.place != index || entry.value == 0.5));
        }
        std::sort(places.begin(), places.end());
        CHECK(std::adjacent_find(places.begin(), places.end()) == places.end());
        CHECK(std::binary_search(places.begin(), places.end(), index));
        CHECK((places.size() == 5 || places.size() == 6));
    }
}

TEST_CASE("CG's matrix is symmetric to the last bit") {
    const auto rows = dense(small);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (std::size_t column = 0; column < row; ++column) {
            CHECK(rows[row][column] == rows[column][row]);
        }
    }
}

TEST_CASE("CG's matrix is the weighted sum of its vectors' outer products, with the shift on the diagonal") {
    const auto vectors = cg::random_vectors(small.order, small.drawn);
    auto rest = dense(small);
    for (std::size_t index = 0; index < vectors.count(); ++index) {
        const double weight = std::pow(0.1, static_cast<double>(index) / 500);
        for (const auto& left : vectors[index]) {
            for (const auto& right : vectors[index]) {
                rest[left.place][right.place] -= weight * left.value * right.value;
            }
        }
        rest[index][index] -= 0.1 - small.shift;
    }
    for (const auto& row : rest) {
        CHECK(largest_difference(row, std::vector<double>(row.size(), 0)) < 1e-13);
    }
}

TEST_CASE("CG's rows are the same in whichever order they are made") {
    cg::Matrix forward{small};
    cg::Matrix backward{small};
    static_cast<void>(backward.row(499));
    for (const int row : {3, 499, 0, 3}) {
        const auto left = forward.row(row);
        const auto right = backward.row(row);
        CHECK(std::equal(left.begin(), left.end(), right.begin(), right.end(),
                         [](const cg::Entry& one, const cg::Entry& other) {
                             return one.place == other.place && one.value == other.value;
                         }));
    }
}

TEST_CASE("the shares of CG's ranks cover each matrix place once, and each rank sums into its own piece") {
    constexpr int order = 97;
    constexpr auto width = static_cast<std::size_t>(order);
    for (const int ranks : {1, 2, 3, 4, 6, 7, 12, 97}) {
        std::vector<int> covered(width * width, 0);
        for (int rank = 0; rank < ranks; ++rank) {
            const auto share = cg::grid_share_of(order, ranks, rank);
            const auto places = share.gathered_places(order);
            CHECK(places[static_cast<std::size_t>(share.own.first)] == 0);
            CHECK(share.row_pieces.size() * share.column_pieces.size() == static_cast<std::size_t>(ranks));
            const auto& mine = share.row_pieces[static_cast<std::size_t>(share.grid_column)];
            CHECK(mine.first == share.own.first);
            CHECK(mine.end() == share.own.end());
            for (int row = share.rows().first; row < share.rows().end(); ++row) {
                for (int column = 0; column < order; ++column) {
                    covered[static_cast<std::size_t>(row) * width + static_cast<std::size_t>(column)] +=
                        places[static_cast<std::size_t>(column)] >= 0 ? 1 : 0;
                }
            }
        }
        CHECK(std::all_of(covered.begin(), covered.end(), [](int count) { return count == 1; }));
    }
}

TEST_CASE(
    "the reference's partition of CG's matrix covers each place once, and the sums arrive where they are "
    "needed") {
    constexpr int order = 97;
    constexpr auto width = static_cast<std::size_t>(order);
    for (const int ranks : {1, 2, 4, 8, 16, 32, 64}) {
        std::vector<cg::GridShare> shares;
        shares.reserve(static_cast<std::size_t>(ranks));
        for (int rank = 0; rank < ranks; ++rank) {
            shares.push_back(cg::reference_share_of(order, ranks, rank));
        }
        std::vector<int> covered(width * width, 0);
        for (const auto& share : shares) {
            for (int row = share.rows().first; row < share.rows().end(); ++row) {
                for (int column = share.own.first; column < share.own.end(); ++column) {
                    ++covered[static_cast<std::size_t>(row) * width + static_cast<std::size_t>(column)];
                }
            }
            const auto& partner = shares[static_cast<std::size_t>(share.transposed_rank)];
            CHECK(partner.summed.first == share.own.first);
            CHECK(partner.summed.end() == share.own.end());
            CHECK(share.rows().has(share.summed.first));
            CHECK(share.rows().has(share.summed.end() - 1));
            CHECK(shares[static_cast<std::size_t>(partner.transposed_rank)].own.first == share.own.first);
        }
        CHECK(std::all_of(covered.begin(), covered.end(), [](int count) { return count == 1; }));
    }
    CHECK_THROWS_AS(static_cast<void>(cg::reference_share_of(order, 3, 0)), tare::npb::WrongUse);
}

TEST_CASE("CG's product depends neither on ranks and threads nor on the vector instructions") {
    for (const auto& recipe : {small, wide}) {
        const auto vector = some_vector(recipe.order);
        const auto expected = product_by_rows(recipe, vector);
        cg::Matrix matrix{recipe};
        for (const auto simd : tare::npb::runnable()) {
            for (const int ranks : {1, 2, 3, 4}) {
                const auto product = product_of_ranks(matrix, ranks, 5 - ranks, simd, vector);
                CHECK(largest_difference(product, expected) < 1e-12);
            }
        }
    }
}

TEST_CASE("CG's tiled matrix takes little more memory than its entries") {
    cg::Matrix matrix{{.order = 7000, .drawn = 8, .shift = 12}};
    std::size_t entries = 0;
    for (int row = 0; row < matrix.order(); ++row) {
        entries += matrix.row(row).size();
    }
    const cg::TiledMatrix tiled{matrix, cg::grid_share_of(matrix.order(), 1, 0), 1};
    CHECK(static_cast<double>(tiled.memory_byte()) < 10.5 * static_cast<double>(entries));
}

TEST_CASE("CG's fused updates are the textbook's") {
    constexpr std::size_t count = 37;
    const auto first = some_vector(count);
    const std::vector<double> second(count, 2);
    for (const auto simd : tare::npb::runnable()) {
        const auto functions = cg::vector_kernels::functions(simd);
        auto residual = first;
        const double square = functions.reduce_residual(count, 0.25, second.data(), residual.data());
        CHECK(square == doctest::Approx(functions.dot(count, residual.data(), residual.data())));
        auto solution = first;
        auto direction = second;
        functions.advance(count, 0.5, 3, residual.data(), solution.data(), direction.data());
        for (std::size_t index = 0; index < count; ++index) {
            CHECK(residual[index] == doctest::Approx(first[index] - 0.5));
            CHECK(solution[index] == doctest::Approx(first[index] + 1));
            CHECK(direction[index] == doctest::Approx(residual[index] + 6));
        }
        const auto sums = functions.outer_sums(count, second.data(), solution.data(), second.data());
        CHECK(sums.estimate == doctest::Approx(functions.dot(count, second.data(), solution.data())));
        CHECK(sums.square == doctest::Approx(functions.dot(count, solution.data(), solution.data())));
        CHECK(sums.residual == 0);
        functions.scale(count, 2, solution.data(), direction.data());
        CHECK(direction[5] == doctest::Approx(2 * solution[5]));
    }
}

TEST_CASE(
    "an outer step of CG is the textbook's: 25 steps of conjugate gradients, then the solution at length 1") {
    cg::Matrix matrix{slow};
    const auto share = cg::grid_share_of(slow.order, 1, 0);
    for (const auto simd : tare::npb::runnable()) {
        cg::CollectiveExchange exchange{World::of(MPI_COMM_SELF), share};
        Team team{1};
        cg::Multiply multiply{matrix, share, exchange, team, simd};
        cg::Solver solver{multiply, exchange, cg::VectorOperations{team, simd}, share, slow.shift};
        cg::PartTimes times{{"multiply", "exchange", "update"}};
        std::vector<double> x(static_cast<std::size_t>(slow.order), 1.0);
        for (int step = 0; step < 3; ++step) {
            const auto expected = textbook_step(slow, 25, x);
            const auto estimate = solver.step(times);
            CHECK(estimate.zeta == doctest::Approx(expected.zeta).epsilon(1e-11));
            CHECK(estimate.residual / expected.residual == doctest::Approx(1).epsilon(1e-3));
        }
    }
    std::vector<double> x(static_cast<std::size_t>(slow.order), 1.0);
    const double after_24 = textbook_step(slow, 24, x).residual;
    std::ranges::fill(x, 1.0);
    CHECK(textbook_step(slow, 25, x).residual < 0.5 * after_24);
}

TEST_CASE("CG's inner steps solve the system, and its estimates settle") {
    const World world = World::of(MPI_COMM_SELF);
    cg::Matrix matrix{small};
    const auto share = cg::grid_share_of(small.order, 1, 0);
    cg::CollectiveExchange exchange{world, share};
    Team team{1};
    cg::Multiply multiply{matrix, share, exchange, team, Simd::plain};
    cg::Solver solver{multiply, exchange, cg::VectorOperations{team, Simd::plain}, share, small.shift};
    cg::PartTimes times{{"multiply", "exchange", "update"}};
    std::vector<double> zeta;
    for (int step = 0; step < 40; ++step) {
        const auto estimate = solver.step(times);
        CHECK(estimate.residual < 1e-9);
        zeta.push_back(estimate.zeta);
    }
    CHECK(zeta[39] == doctest::Approx(zeta[38]).epsilon(1e-4));
    solver.restart();
    CHECK(solver.step(times).zeta == zeta[0]);
}

TEST_CASE(
    "CG with 24 or 26 inner steps finds the published zeta, but neither the residual nor the count of "
    "products") {
    constexpr cg::Recipe class_s{.order = 1400, .drawn = 7, .shift = 10};
    cg::Matrix matrix{class_s};
    const auto share = cg::grid_share_of(class_s.order, 1, 0);
    cg::CollectiveExchange exchange{World::of(MPI_COMM_SELF), share};
    Team team{1};
    cg::Multiply multiply{matrix, share, exchange, team, Simd::plain};
    cg::PartTimes times{{"multiply", "exchange", "update"}};
    for (const int steps : {24, 25, 26}) {
        cg::Solver solver{multiply, exchange,      cg::VectorOperations{team, Simd::plain},
                          share,    class_s.shift, steps};
        std::vector<cg::Estimate> estimates(15);
        std::ranges::generate(estimates, [&] { return solver.step(times); });
        for (const auto& check : cg::checks({}, estimates)) {
            const bool shows_steps =
                check.name.starts_with("products") || check.name.starts_with("recurrence");
            CHECK(check.is_right() == (steps == 25 || !shows_steps));
        }
    }
}
