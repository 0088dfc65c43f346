// SPDX-License-Identifier: Apache-2.0
#include "npb/is/division.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "npb/is/counting.hpp"

namespace tare::npb::is {

namespace {

constexpr int fewest_buckets_exponent = 7;
constexpr unsigned buckets_per_rank = 32;

}  // namespace

int buckets_exponent(int ranks, int values_exponent) {
    const unsigned wanted = buckets_per_rank * static_cast<unsigned>(ranks);
    const int for_balance = std::clamp(static_cast<int>(std::bit_width(wanted - 1)), fewest_buckets_exponent,
                                       most_buckets_exponent);
    return std::min(values_exponent, std::max(for_balance, values_exponent - offset_bits));
}

std::vector<int> divide(std::span<const std::uint32_t> totals, int ranks) {
    const auto all = std::accumulate(totals.begin(), totals.end(), std::int64_t{0});
    std::vector<int> first(static_cast<std::size_t>(ranks) + 1, static_cast<int>(totals.size()));
    std::int64_t below = 0;
    int rank = 0;
    for (std::size_t bucket = 0; bucket < totals.size(); ++bucket) {
        // A boundary comes before the bucket whose middle lies beyond the even share.
        while (rank < ranks && all * rank <= (below + totals[bucket] / 2) * ranks) {
            first[static_cast<std::size_t>(rank)] = static_cast<int>(bucket);
            ++rank;
        }
        below += totals[bucket];
    }
    return first;
}

int reference_buckets_exponent(int keys_exponent, int values_exponent) {
    constexpr int usual = 10;
    constexpr int of_small_problems = 9;
    constexpr int small_keys_exponent = 16;
    return std::min(values_exponent, keys_exponent <= small_keys_exponent ? of_small_problems : usual);
}

std::vector<int> divide_upwards(std::span<const std::uint32_t> totals, int ranks) {
    const auto all = std::accumulate(totals.begin(), totals.end(), std::int64_t{0});
    std::vector<int> first(static_cast<std::size_t>(ranks) + 1, static_cast<int>(totals.size()));
    first.front() = 0;
    std::int64_t below = 0;
    int rank = 1;
    for (std::size_t bucket = 0; bucket < totals.size(); ++bucket) {
        below += totals[bucket];
        for (; rank < ranks && all * rank <= below * ranks; ++rank) {
            first[static_cast<std::size_t>(rank)] = static_cast<int>(bucket) + 1;
        }
    }
    return first;
}

}  // namespace tare::npb::is
