// SPDX-License-Identifier: Apache-2.0
// The initial field: pseudo-random numbers, many numbers of the sequence side by side.
#include "npb/common/random.hpp"
#include "npb/ft/pencils.hpp"

// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays): hot sources hold no containers
namespace tare::npb::ft::TARE_NPB_SIMD {

namespace {

constexpr std::ptrdiff_t points_at_once = 64;
constexpr std::ptrdiff_t doubles_at_once = 2 * points_at_once;
constexpr std::size_t cache_line_byte = 64;

/// 46 bits into the mantissa of a number in [1, 2) at 2^52: exact, and vectors of every width can do it.
[[gnu::always_inline]] inline double uniform(std::uint64_t state) {
    constexpr std::uint64_t exponent = 0x4330000000000000;
    constexpr double offset = 0x1p52;
    return random_unit * (__builtin_bit_cast(double, state | exponent) - offset);
}

/// Steps from the start of the sequence to each double of a stretch of blocks: re and im follow each other.
[[gnu::always_inline]] constexpr std::ptrdiff_t steps_to(std::ptrdiff_t index) {
    const std::ptrdiff_t block = index / block_doubles;
    const std::ptrdiff_t within = index % block_doubles;
    return 2 * (block * block_points + within % block_points) + within / block_points + 1;
}

/// a^steps of each double of a stretch.
struct Powers {
    constexpr Powers() {
        for (std::ptrdiff_t index = 0; index < doubles_at_once; ++index) {
            value[index] = random_power(static_cast<std::uint64_t>(steps_to(index)));
        }
    }
    std::uint64_t value[doubles_at_once]{};
};

constexpr Powers powers;

}  // namespace

void fill(std::uint64_t state, std::ptrdiff_t points, double* to) {
    alignas(cache_line_byte) std::uint64_t states[doubles_at_once];
    for (std::ptrdiff_t index = 0; index < doubles_at_once; ++index) {
        states[index] = random_product(state, powers.value[index]);
    }
    constexpr std::uint64_t stride = random_power(doubles_at_once);
    for (std::ptrdiff_t point = 0; point < points; point += points_at_once) {
        for (std::ptrdiff_t index = 0; index < doubles_at_once; ++index) {
            to[index] = uniform(states[index]);
            states[index] = random_product(states[index], stride);
        }
        to += doubles_at_once;
    }
}

Functions functions() {
    return {.transform_columns = transform_columns,
            .transform_rows = transform_rows,
            .transform_yz_tile = transform_yz_tile,
            .transform_yz_tile_inverse = transform_yz_tile_inverse,
            .fill = fill};
}

}  // namespace tare::npb::ft::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays)
