// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "npb/is/division.hpp"
#include "npb/is/keys.hpp"
#include "npb/is/ranking.hpp"
#include "npb/is/verify.hpp"

using namespace tare::npb;
using namespace tare::npb::is;

namespace {

constexpr Sizes small{.keys_exponent = 14, .values_exponent = 9, .iterations = 10};
constexpr KeyShare everything{.first = 0, .count = small.keys()};

std::vector<std::uint32_t> keys_of(const Sizes& sizes, const KeyShare& share) {
    std::vector<std::uint32_t> keys(static_cast<std::size_t>(share.count));
    generate(sizes, share, keys);
    return keys;
}

/// A ranking of these keys, done.
Ranking ranked(const Sizes& sizes, const std::vector<std::uint32_t>& keys, Way way, Simd simd,
               int threads = 1) {
    Ranking ranking{World::of(MPI_COMM_WORLD), simd, threads, sizes, keys, way};
    Times times{{"bucket", "exchange", "count"}};
    ranking.rank(times, {});
    return ranking;
}

/// The definition of a rank, value by value.
std::vector<std::uint32_t> ranks_by_definition(const Sizes& sizes, const std::vector<std::uint32_t>& keys) {
    std::vector<std::uint32_t> ranks(sizes.values());
    for (std::uint32_t value = 0; value < sizes.values(); ++value) {
        ranks[value] = static_cast<std::uint32_t>(
            std::count_if(keys.begin(), keys.end(), [value](std::uint32_t key) { return key < value; }));
    }
    return ranks;
}

void check_ranks(const Sizes& sizes, const std::vector<std::uint32_t>& keys) {
    const auto wanted = ranks_by_definition(sizes, keys);
    for (const Simd simd : runnable()) {
        for (const Way way : {Way::direct, Way::apart, Way::buckets, Way::whole}) {
            const Ranking ranking = ranked(sizes, keys, way, simd);
            CHECK(std::equal(wanted.begin(), wanted.end(), ranking.ranks().begin(), ranking.ranks().end()));
        }
    }
}

std::vector<std::uint32_t> loads(const std::vector<std::uint32_t>& totals, const std::vector<int>& first) {
    std::vector<std::uint32_t> found;
    for (std::size_t rank = 0; rank + 1 < first.size(); ++rank) {
        found.push_back(std::accumulate(totals.begin() + first[rank], totals.begin() + first[rank + 1],
                                        std::uint32_t{0}));
    }
    return found;
}

}  // namespace

TEST_CASE("keys are the same on any number of ranks") {
    const auto whole = keys_of(small, everything);
    for (const int ranks : {2, 3, 7}) {
        std::vector<std::uint32_t> together;
        for (int rank = 0; rank < ranks; ++rank) {
            const auto part = keys_of(small, share_of(small.keys(), ranks, rank));
            together.insert(together.end(), part.begin(), part.end());
        }
        CHECK(together == whole);
    }
}

TEST_CASE("keys lie below the number of values, around its middle") {
    const auto keys = keys_of(small, everything);
    CHECK(*std::max_element(keys.begin(), keys.end()) < small.values());
    const double mean = static_cast<double>(std::accumulate(keys.begin(), keys.end(), std::int64_t{0})) /
                        static_cast<double>(keys.size());
    CHECK(mean == doctest::Approx(small.values() / 2.0).epsilon(0.01));
}

TEST_CASE("an iteration changes two keys, in the ranks that hold them") {
    constexpr int iteration = 3;
    for (const int rank : {0, 1}) {
        const KeyShare share = share_of(small.keys(), 2, rank);
        const auto before = keys_of(small, share);
        auto after = before;
        alter(small, share, iteration, after);
        int changed = 0;
        for (std::size_t index = 0; index < after.size(); ++index) {
            changed += after[index] == before[index] ? 0 : 1;
        }
        CHECK(changed == (rank == 0 ? 2 : 0));
        CHECK((rank == 1 || after[iteration] == iteration));
        CHECK((rank == 1 || after[iteration + small.iterations] == small.values() - iteration));
    }
}

TEST_CASE("a rank is the number of keys that are less, with and without buckets, in vectors of any width") {
    check_ranks(small, keys_of(small, everything));
}

TEST_CASE("two ranks go without buckets where a key fits 16 bits, whatever the vectors") {
    constexpr Sizes widest{.keys_exponent = 20, .values_exponent = 16, .iterations = 10};
    constexpr Sizes wider{.keys_exponent = 23, .values_exponent = 19, .iterations = 10};
    CHECK(way_of(widest, 2, 1) == Way::apart);
    CHECK(way_of(wider, 2, 1) == Way::buckets);
    CHECK(way_of(widest, 2, 2) == Way::buckets);
    CHECK(way_of(widest, 3, 1) == Way::buckets);
    CHECK(way_of(widest, 1, 1) == Way::direct);
}

TEST_CASE("keys are picked out of all in their order, any part of them, and no values are no keys") {
    auto keys = keys_of(small, everything);
    keys.resize(keys.size() - 5);
    for (const Simd simd : runnable()) {
        for (const Range& range :
             {Range{0, 512, 0}, Range{0, 256, 0}, Range{200, 1, 0}, Range{300, 212, 0}, Range{7, 0, 0}}) {
            std::vector<std::uint16_t> wanted;
            for (const std::uint32_t key : keys) {
                if (range.holds(key)) {
                    wanted.push_back(static_cast<std::uint16_t>(key));
                }
            }
            std::vector<std::uint16_t> picked(keys.size() + split_spare);
            functions(simd).split(keys.data(), std::ssize(keys), range.first_value, range.values,
                                  picked.data());
            CHECK(std::equal(wanted.begin(), wanted.end(), picked.begin()));
            CHECK(std::all_of(picked.begin() + std::ssize(wanted) + split_spare, picked.end(),
                              [](auto key) { return key == 0; }));
        }
    }
}

TEST_CASE("threads change no rank") {
    auto keys = keys_of(small, everything);
    keys.resize(keys.size() - 5);
    const auto wanted = ranks_by_definition(small, keys);
    for (const int threads : {2, 3, 8}) {
        const Ranking ranking = ranked(small, keys, Way::buckets, Simd::plain, threads);
        CHECK(std::equal(wanted.begin(), wanted.end(), ranking.ranks().begin(), ranking.ranks().end()));
    }
}

TEST_CASE("thousands of equal keys overflow no counter") {
    std::vector<std::uint32_t> keys(static_cast<std::size_t>(small.keys()), 77);
    std::fill_n(keys.begin(), 256, 78U);
    check_ranks(small, keys);
}

TEST_CASE("a number of keys that no vector divides is ranked whole") {
    auto keys = keys_of(small, everything);
    keys.resize(keys.size() - 5);
    check_ranks(small, keys);
}

TEST_CASE("a right ranking puts all keys in order; one of other keys does not") {
    for (const Way way : {Way::direct, Way::apart, Way::buckets, Way::whole}) {
        auto keys = keys_of(small, everything);
        const World world = World::of(MPI_COMM_WORLD);
        const Ranking ranking = ranked(small, keys, way, Simd::plain);
        CHECK(faults_of_order(ranking, keys, world) == 0);
        keys[99] = (keys[99] + 1) % small.values();
        CHECK(faults_of_order(ranking, keys, world) > 0);
    }
}

TEST_CASE("every bucket goes to one rank, and no rank has much more than its share") {
    const auto keys = keys_of(small, everything);
    std::vector<std::uint32_t> totals(small.values());
    std::for_each(keys.begin(), keys.end(), [&](std::uint32_t key) { ++totals[key]; });
    const auto largest = *std::max_element(totals.begin(), totals.end());
    for (const int ranks : {1, 2, 3, 8, 61}) {
        const auto first = divide(totals, ranks);
        CHECK(first.front() == 0);
        CHECK(first.back() == std::ssize(totals));
        CHECK(std::is_sorted(first.begin(), first.end()));
        const auto even = static_cast<std::uint32_t>(small.keys() / ranks) + 1;
        for (const auto load : loads(totals, first)) {
            CHECK(load <= even + largest);
        }
    }
}

TEST_CASE("the reference's ranks end with the first bucket that fills their share") {
    const std::vector<std::uint32_t> totals{3, 3, 3, 3, 0, 4};
    CHECK(divide_upwards(totals, 1) == std::vector<int>{0, 6});
    CHECK(divide_upwards(totals, 2) == std::vector<int>{0, 3, 6});
    CHECK(divide_upwards(totals, 4) == std::vector<int>{0, 2, 3, 4, 6});
    CHECK(divide_upwards({totals.data(), 1}, 3) == std::vector<int>{0, 1, 1, 1});
}

TEST_CASE("more ranks than buckets leave some ranks without keys") {
    const std::vector<std::uint32_t> totals{0, 1000, 0};
    const auto first = divide(totals, 5);
    CHECK(std::is_sorted(first.begin(), first.end()));
    const auto found = loads(totals, first);
    CHECK(std::count(found.begin(), found.end(), 1000U) == 1);
    CHECK(std::count(found.begin(), found.end(), 0U) == 4);
}

TEST_CASE("a key within its bucket fits what is sent of it") {
    for (const int ranks : {1, 2, 5, 64, 1000}) {
        for (int values_exponent = 2; values_exponent <= offset_bits + most_buckets_exponent;
             ++values_exponent) {
            const int exponent = buckets_exponent(ranks, values_exponent);
            CHECK(exponent <= std::min(values_exponent, most_buckets_exponent));
            CHECK(values_exponent - exponent <= offset_bits);
        }
    }
}

namespace {

/// What a right run finds.
PartialTests right_tests(const Class& problem, int iterations) {
    PartialTests tests;
    for (int iteration = 1; iteration <= iterations; ++iteration) {
        Found found{};
        std::transform(problem.tests.begin(), problem.tests.end(), found.begin(),
                       [&](const Test& test) { return test.rank_in(iteration); });
        tests.found.push_back(found);
        tests.passed += passed(problem, iteration, found);
        tests.changed += 2;
    }
    return tests;
}

}  // namespace

TEST_CASE("one wrong rank in one iteration is a wrong result") {
    for (const Class& problem : classes) {
        PartialTests tests = right_tests(problem, 10);
        CHECK(tests.passed == 50);
        CHECK(verdict(checks(problem, tests, 0)) == Verification::successful);
        CHECK(verdict(checks(problem, tests, 1)) == Verification::unsuccessful);
        CHECK(verdict(checks(problem, {}, 0)) == Verification::not_performed);
        --tests.found[4][3];
        CHECK(verdict(checks(problem, tests, 0)) == Verification::unsuccessful);
        ++tests.found[4][3];
        --tests.passed;
        CHECK(verdict(checks(problem, tests, 0)) == Verification::unsuccessful);
        ++tests.passed;
        --tests.changed;
        CHECK(verdict(checks(problem, tests, 0)) == Verification::unsuccessful);
        CHECK(verdict(checks(problem, right_tests(problem, 9), 0)) == Verification::unsuccessful);
    }
}

TEST_CASE("keys that the iterations did not change as specified are missed") {
    auto keys = keys_of(small, everything);
    for (int iteration = 1; iteration <= small.iterations; ++iteration) {
        alter(small, everything, iteration, keys);
    }
    CHECK(changed(small, everything, keys) == 20);
    ++keys[7];
    --keys[20];
    CHECK(changed(small, everything, keys) == 18);
}

TEST_CASE("a partial test that another rank of the run knows passes there alone") {
    const Class& problem = class_of(ProblemClass::s);
    Found here = right_tests(problem, 1).found.front();
    Found there = here;
    here[0] = here[3] = known_elsewhere;
    there[1] = there[2] = there[4] = known_elsewhere;
    CHECK(passed(problem, 1, here) == 3);
    CHECK(passed(problem, 1, there) == 2);
    CHECK(passed(problem, 2, here) == 0);
}
