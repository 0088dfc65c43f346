// SPDX-License-Identifier: Apache-2.0
// What the ranks of a run do together. With one rank these hold too; mpirun starts them with more.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "npb/is/keys.hpp"
#include "npb/is/ranking.hpp"
#include "npb/is/verify.hpp"

using namespace tare::npb;
using namespace tare::npb::is;

namespace {

constexpr Sizes small{.keys_exponent = 14, .values_exponent = 9, .iterations = 10};

/// This rank's keys of a problem, and those of all ranks: what the ranking is held against.
struct Keys {
    explicit Keys(const World& of_world)
        : world{of_world}, all(static_cast<std::size_t>(small.keys())), share{whole} {
        generate(small, whole, all);
        share = share_of(small.keys(), world.ranks, world.rank);
        own.resize(static_cast<std::size_t>(share.count));
        generate(small, share, own);
    }

    void alter_in(int iteration) {
        alter(small, whole, iteration, all);
        alter(small, share, iteration, own);
    }
    void set_all_to(std::uint32_t value) {
        std::fill(all.begin(), all.end(), value);
        std::fill(own.begin(), own.end(), value);
    }
    [[nodiscard]] std::uint32_t below(std::uint32_t value) const {
        return static_cast<std::uint32_t>(
            std::count_if(all.begin(), all.end(), [value](std::uint32_t key) { return key < value; }));
    }

    static constexpr KeyShare whole{.first = 0, .count = small.keys()};
    World world;
    std::vector<std::uint32_t> all;
    std::vector<std::uint32_t> own{};
    KeyShare share;
};

/// Holds every rank of the ranking's values against the definition.
void check_ranks(const Ranking& ranking, const Keys& keys) {
    const Range& range = ranking.range();
    bool are_right = true;
    for (std::uint32_t value = range.first_value; value < range.first_value + range.values; ++value) {
        are_right = are_right && ranking.rank_of(value) == keys.below(value);
    }
    CHECK(are_right);
}

std::int64_t sum_of_all(std::int64_t value, const World& world) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, world.communicator);
    return value;
}

Ranking ranking_of(const Keys& keys, Simd simd, int threads = 1, Way way = Way::buckets) {
    return {keys.world, simd, threads, small, keys.own, way};
}

Times times() { return Times{{"bucket", "exchange", "count"}}; }

void check_ranking(Ranking ranking, const Keys& keys) {
    Times unused = times();
    ranking.rank(unused, {});
    check_ranks(ranking, keys);
    CHECK(sum_of_all(ranking.range().values, keys.world) == small.values());
    CHECK(faults_of_order(ranking, keys.own, keys.world) == 0);
}

}  // namespace

TEST_CASE("ranks of the run: a rank is the number of keys of all that are less") {
    const Keys keys{World::of(MPI_COMM_WORLD)};
    for (const Simd simd : runnable()) {
        check_ranking(ranking_of(keys, simd), keys);
        check_ranking(ranking_of(keys, simd, 3), keys);
        check_ranking(ranking_of(keys, simd, 1, Way::apart), keys);
        check_ranking(ranking_of(keys, simd, 1, Way::whole), keys);
        check_ranking(ranking_of(keys, simd, 3, Way::whole), keys);
    }
}

TEST_CASE("ranks of the run: each iteration ranks the keys as they are then") {
    for (const Way way : {Way::apart, Way::buckets, Way::whole}) {
        Keys keys{World::of(MPI_COMM_WORLD)};
        Ranking ranking = ranking_of(keys, runnable().back(), 1, way);
        Times unused = times();
        for (int iteration = 1; iteration <= small.iterations; ++iteration) {
            keys.alter_in(iteration);
            ranking.rank(unused, {});
            check_ranks(ranking, keys);
            CHECK(faults_of_order(ranking, keys.own, keys.world) == 0);
        }
    }
}

TEST_CASE("ranks of the run: equal keys all go to one rank, however often that rank changes") {
    for (const Way way : {Way::apart, Way::buckets, Way::whole}) {
        Keys keys{World::of(MPI_COMM_WORLD)};
        Ranking ranking = ranking_of(keys, runnable().back(), 1, way);
        Times unused = times();
        for (const std::uint32_t value : {77U, 0U, 511U, 256U}) {
            keys.set_all_to(value);
            ranking.rank(unused, {});
            check_ranks(ranking, keys);
            CHECK(sum_of_all(ranking.rank_of(value) ? 1 : 0, keys.world) == 1);
            CHECK(faults_of_order(ranking, keys.own, keys.world) == 0);
        }
    }
}

TEST_CASE("ranks of the run: watched keys reach all ranks, and one of them knows their rank") {
    const Keys keys{World::of(MPI_COMM_WORLD)};
    Ranking ranking = ranking_of(keys, runnable().back());
    Times unused = times();
    constexpr std::int64_t index = 9999;
    std::vector<std::uint32_t> watched{
        keys.share.has(index) ? keys.own[static_cast<std::size_t>(index - keys.share.first)] : 0};
    ranking.rank(unused, watched);
    CHECK(watched.front() == keys.all[index]);
    CHECK(sum_of_all(ranking.rank_of(watched.front()) ? 1 : 0, keys.world) == 1);
}

TEST_CASE("ranks of the run: one key that another rank has changed is a fault of order") {
    Keys keys{World::of(MPI_COMM_WORLD)};
    Ranking ranking = ranking_of(keys, runnable().back());
    Times unused = times();
    ranking.rank(unused, {});
    if (keys.world.rank == keys.world.ranks - 1) {
        keys.own.back() ^= 1U;
    }
    const std::int64_t faults = faults_of_order(ranking, keys.own, keys.world);
    CHECK((faults > 0 || keys.world.rank > 0));
}
