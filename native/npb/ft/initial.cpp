// SPDX-License-Identifier: Apache-2.0
// The initial field: pseudo-random numbers, many places of the sequence side by side.
#include "npb/common/random.hpp"
#include "npb/ft/layout.hpp"
#include "npb/ft/variants.hpp"

// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays): hot sources hold no containers
namespace tare::npb::ft::TARE_NPB_SIMD {

namespace {

constexpr std::ptrdiff_t points_at_once = 64;
constexpr std::ptrdiff_t places = 2 * points_at_once;
constexpr std::size_t cache_line_byte = 64;

/// 46 bits into the mantissa of a number in [1, 2) at 2^52: exact, and vectors of every width can do it.
[[gnu::always_inline]] inline double uniform(std::uint64_t state) {
    constexpr std::uint64_t exponent = 0x4330000000000000;
    constexpr double offset = 0x1p52;
    return random_unit * (__builtin_bit_cast(double, state | exponent) - offset);
}

/// Steps from the start of the sequence to each double of a stretch of blocks: re and im follow each other.
[[gnu::always_inline]] constexpr std::ptrdiff_t steps_to(std::ptrdiff_t place) {
    const std::ptrdiff_t block = place / block_doubles;
    const std::ptrdiff_t within = place % block_doubles;
    return 2 * (block * block_points + within % block_points) + within / block_points + 1;
}

/// a^steps of each place of a stretch.
struct Powers {
    constexpr Powers() {
        for (std::ptrdiff_t place = 0; place < places; ++place) {
            value[place] = random_power(static_cast<std::uint64_t>(steps_to(place)));
        }
    }
    std::uint64_t value[places]{};
};

constexpr Powers powers;

}  // namespace

void fill(std::uint64_t state, std::ptrdiff_t points, double* to) {
    alignas(cache_line_byte) std::uint64_t states[places];
    for (std::ptrdiff_t place = 0; place < places; ++place) {
        states[place] = random_product(state, powers.value[place]);
    }
    constexpr std::uint64_t stride = random_power(places);
    for (std::ptrdiff_t point = 0; point < points; point += points_at_once) {
        for (std::ptrdiff_t place = 0; place < places; ++place) {
            to[place] = uniform(states[place]);
            states[place] = random_product(states[place], stride);
        }
        to += places;
    }
}

Functions functions() {
    return {.transform_columns = transform_columns,
            .transform_rows = transform_rows,
            .transform_bundle = transform_bundle,
            .transform_bundle_inverse = transform_bundle_inverse,
            .fill = fill};
}

}  // namespace tare::npb::ft::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays)
