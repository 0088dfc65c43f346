// SPDX-License-Identifier: Apache-2.0
// The hot loop of EP: uniform pairs, those in the unit disc made Gaussian (Marsaglia's polar method), and
// counted.
#include "npb/ep/pairs.hpp"

#include <cmath>
#include <cstddef>

#include "npb/common/random.hpp"

// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays): hot sources hold no containers
namespace tare::npb::ep::TARE_NPB_SIMD {

namespace {

constexpr std::uint64_t seed = 271828183;
/// Places of the random sequence that go ahead side by side: enough to fill vectors, few enough for the first
/// cache.
constexpr int lanes = 512;
constexpr int steps = (1 << batch_exponent) / lanes;
constexpr std::size_t cache_line_byte = 64;

/// 46 bits into the mantissa of a number in [1, 2) at 2^52: exact, and vectors of every width can do it.
inline double symmetric_uniform(std::uint64_t state) {
    constexpr std::uint64_t exponent = 0x4330000000000000;
    constexpr double offset = 0x1p52;
    constexpr double unit = 2.0 * random_unit;
    return unit * (__builtin_bit_cast(double, state | exponent) - offset) - 1.0;
}

/// The random states of all lanes, each at the start of its own stretch of the sequence.
struct Lanes {
    std::uint64_t state[lanes];

    void start(std::int64_t batch) {
        constexpr std::uint64_t stride = random_power(std::uint64_t{2} * steps);
        constexpr std::uint64_t batch_stride = random_power(std::uint64_t{2} << batch_exponent);
        std::uint64_t first =
            random_product(seed, random_power(static_cast<std::uint64_t>(batch), batch_stride));
        for (auto& lane : state) {
            lane = first;
            first = random_product(first, stride);
        }
    }
};

/// One pair of each lane. Pairs outside of the disc go through the same arithmetic, with no weight.
void add_step(Lanes& at, Tally& tally, std::uint8_t (&magnitude)[lanes]) {
    double sum_x = 0;
    double sum_y = 0;
    for (int lane = 0; lane < lanes; ++lane) {
        const std::uint64_t first = random_product(at.state[lane], random_multiplier);
        const std::uint64_t second = random_product(first, random_multiplier);
        at.state[lane] = second;
        const double x = symmetric_uniform(first);
        const double y = symmetric_uniform(second);
        const double square = x * x + y * y;
        const bool accepted = square <= 1.0;
        const double safe = accepted ? square : 1.0;
        const double factor = std::sqrt(-2.0 * std::log(safe) / safe);
        const double deviate_x = x * factor;
        const double deviate_y = y * factor;
        sum_x += deviate_x;
        sum_y += deviate_y;
        const double larger = std::fmax(std::fabs(deviate_x), std::fabs(deviate_y));
        magnitude[lane] = static_cast<std::uint8_t>(accepted ? static_cast<int>(larger) + 1 : 0);
    }
    tally.x += sum_x;
    tally.y += sum_y;
}

/// Counts by comparing all lanes with each annulus: no table lookup, so that it is done in vectors.
void count(const std::uint8_t (&magnitude)[lanes], Tally& tally) {
    for (int annulus = 0; annulus < annuli; ++annulus) {
        int found = 0;
        for (const auto one : magnitude) {
            found += one > annulus ? 1 : 0;
        }
        tally.at_least[annulus] += found;
        if (found == 0) {
            return;
        }
    }
}

void add_batches(std::int64_t first, std::int64_t batches, Tally& tally) {
    alignas(cache_line_byte) Lanes at{};
    alignas(cache_line_byte) std::uint8_t magnitude[lanes];
    for (std::int64_t batch = first; batch < first + batches; ++batch) {
        at.start(batch);
        for (int step = 0; step < steps; ++step) {
            add_step(at, tally, magnitude);
            count(magnitude, tally);
        }
    }
}

}  // namespace

Functions functions() { return {.add_batches = add_batches}; }

}  // namespace tare::npb::ep::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays)
