// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "npb/common/random.hpp"
#include "npb/ep/verify.hpp"

using namespace tare::npb;
using namespace tare::npb::ep;

namespace {

constexpr std::uint64_t seed = 271828183;
constexpr std::int64_t pairs_of_batch = std::int64_t{1} << batch_exponent;

/// Sums and counts may differ by roundings alone.
constexpr double precise = 1e-12;

std::span<std::int64_t, annuli> at_least_of(Tally& tally) { return std::span{tally.at_least}; }

/// The definition (NAS-95-020, section 2.2.1), number by number from the seed on, without any jump.
Tally stepped(std::int64_t batches) {
    Tally tally;
    Random random{seed};
    for (std::int64_t pair = 0; pair < batches * pairs_of_batch; ++pair) {
        const double first = 2 * random.next() - 1;
        const double second = 2 * random.next() - 1;
        const double square = first * first + second * second;
        if (square <= 1) {
            const double factor = std::sqrt(-2 * std::log(square) / square);
            tally.x += first * factor;
            tally.y += second * factor;
            const auto annulus =
                static_cast<std::int64_t>(std::max(std::abs(first), std::abs(second)) * factor);
            for (std::int64_t below = 0; below <= annulus; ++below) {
                ++at_least_of(tally)[static_cast<std::size_t>(below)];
            }
        }
    }
    return tally;
}

Tally tally_of(Simd simd, std::int64_t first, std::int64_t batches) {
    Tally tally;
    functions(simd).add_batches(first, batches, tally);
    return tally;
}

void check_equal(const Tally& found, const Tally& wanted) {
    CHECK(found.x == doctest::Approx(wanted.x).epsilon(precise));
    CHECK(found.y == doctest::Approx(wanted.y).epsilon(precise));
    for (std::int64_t annulus = 0; annulus < annuli; ++annulus) {
        CHECK(count_of(found, annulus) == count_of(wanted, annulus));
    }
}

/// What a run of the class would give that is right to the last digit.
Tally published_tally(const Class& one) {
    Tally tally{.x = one.published.x, .y = one.published.y};
    std::int64_t more = 0;
    for (std::size_t annulus = one.counts.size(); annulus-- > 0;) {
        more += one.counts[annulus];
        at_least_of(tally)[annulus] = more;
    }
    return tally;
}

Arguments arguments_of(const Class& one) {
    Arguments arguments;
    arguments.problem_class = one.name;
    return arguments;
}

}  // namespace

TEST_CASE(
    "EP: batches entered by jumps give what stepping through the sequence gives, in every vector width") {
    constexpr std::int64_t batches = 3;
    const Tally wanted = stepped(batches);
    for (const Simd simd : runnable()) {
        check_equal(tally_of(simd, 0, batches), wanted);
    }
}

TEST_CASE("EP: shares of the batches add up to the whole, however they are cut") {
    constexpr std::int64_t batches = 5;
    for (const Simd simd : runnable()) {
        const Tally whole = tally_of(simd, 0, batches);
        for (const std::int64_t cut : {1, 4}) {
            Tally parts = tally_of(simd, cut, batches - cut);
            functions(simd).add_batches(0, cut, parts);
            check_equal(parts, whole);
        }
    }
}

TEST_CASE("EP: of all pairs pi/4 are in the disc, and their deviates are normal") {
    constexpr std::int64_t batches = 32;
    constexpr auto pairs = static_cast<double>(batches * pairs_of_batch);
    constexpr double in_disc = 0.78539816339744831;
    constexpr double six_deviations = 6;
    Tally tally = tally_of(runnable().back(), 1000, batches);
    const auto near = [](double found, double probability, double total) {
        return std::abs(found - probability * total) <=
               six_deviations * std::sqrt(total * probability * (1 - probability));
    };
    const auto accepted = static_cast<double>(tally.at_least[0]);
    CHECK(near(accepted, in_disc, pairs));
    for (std::size_t annulus = 1; annulus < 4; ++annulus) {
        const double both_below = std::pow(std::erf(static_cast<double>(annulus) / std::sqrt(2.0)), 2);
        CHECK(near(static_cast<double>(at_least_of(tally)[annulus]), 1 - both_below, accepted));
    }
    CHECK(std::abs(tally.x) <= six_deviations * std::sqrt(accepted));
    CHECK(std::abs(tally.y) <= six_deviations * std::sqrt(accepted));
}

TEST_CASE("EP: every class's published values verify themselves, and nothing off by more than NPB allows") {
    for (const Class& one : classes) {
        const Arguments arguments = arguments_of(one);
        Tally tally = published_tally(one);
        CHECK(verdict(checks(arguments, tally)) == Verification::successful);
        tally.y *= 1 + 1.01e-8;
        CHECK(verdict(checks(arguments, tally)) == Verification::unsuccessful);
        tally = published_tally(one);
        tally.x = std::numeric_limits<double>::quiet_NaN();
        CHECK(verdict(checks(arguments, tally)) == Verification::unsuccessful);
    }
}

TEST_CASE("EP: one pair too many in any annulus is wrong, where the counts are known") {
    for (const Class& one : classes) {
        for (std::size_t annulus = 0; annulus < one.counts.size(); ++annulus) {
            Tally tally = published_tally(one);
            ++at_least_of(tally)[annulus];
            CHECK(verdict(checks(arguments_of(one), tally)) == Verification::unsuccessful);
        }
    }
}

TEST_CASE("EP: a problem of one's own has no published values") {
    Arguments arguments;
    arguments.settings["exponent"] = 24;
    const auto found = checks(arguments, published_tally(classes.front()));
    CHECK(verdict(found) == Verification::not_performed);
}
