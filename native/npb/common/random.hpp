// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// NPB's generator of pseudo-random numbers, NAS-95-020 section 2.3: x(k+1) = a x(k) mod 2^46 with a = 5^13.
// Always inline, so that hot sources may use it (see simd.hpp).
// A product's low 46 bits need only the low 64, so that ordinary wrapping multiplication is exact.
namespace tare::npb {

constexpr std::uint64_t random_multiplier = 1220703125;
constexpr std::uint64_t random_mask = (std::uint64_t{1} << 46U) - 1;
constexpr double random_unit = 1.0 / static_cast<double>(random_mask + 1);

[[nodiscard, gnu::always_inline]] constexpr std::uint64_t random_product(std::uint64_t left,
                                                                         std::uint64_t right) {
    return (left * right) & random_mask;
}

/// a^steps: multiplying a state by it goes `steps` ahead at once.
[[nodiscard, gnu::always_inline]] constexpr std::uint64_t random_power(
    std::uint64_t steps, std::uint64_t base = random_multiplier) {
    std::uint64_t power = 1;
    for (; steps > 0; steps >>= 1U) {
        if ((steps & 1U) != 0) {
            power = random_product(power, base);
        }
        base = random_product(base, base);
    }
    return power;
}

/// The sequence from a seed on; each number is in (0, 1).
class Random {
  public:
    constexpr explicit Random(std::uint64_t seed) : state_{seed} {}

    [[nodiscard]] constexpr double next() {
        state_ = random_product(state_, random_multiplier);
        return static_cast<double>(state_) * random_unit;
    }

    constexpr void jump(std::uint64_t steps) { state_ = random_product(state_, random_power(steps)); }

    [[nodiscard]] constexpr std::uint64_t state() const { return state_; }

  private:
    std::uint64_t state_;
};

}  // namespace tare::npb
