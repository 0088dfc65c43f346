// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace tare::slices {

/// The random numbers of HPC Challenge's RandomAccess: the powers of x modulo x^64 + x^2 + x + 1 over GF(2),
/// a bit for each coefficient. They repeat after 1317624576693539401.
using Polynomial = std::uint64_t;

constexpr Polynomial times_x(Polynomial power) {
    constexpr Polynomial rest = 7;
    return (power << 1U) ^ (std::bit_cast<std::int64_t>(power) < 0 ? rest : 0);
}

constexpr Polynomial product(Polynomial left, Polynomial right) {
    Polynomial sum = 0;
    for (; right != 0; right >>= 1U) {
        sum ^= (right & 1U) != 0 ? left : 0;
        left = times_x(left);
    }
    return sum;
}

/// The number after `steps` steps from 1.
constexpr Polynomial power_of_x(std::uint64_t steps) {
    Polynomial power = 1;
    for (Polynomial square = 2; steps != 0; steps >>= 1U) {
        power = (steps & 1U) != 0 ? product(power, square) : power;
        square = product(square, square);
    }
    return power;
}

}  // namespace tare::slices
