// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/ft/vector.hpp"

// Transforms of four and eight elements (Cooley and Tukey 1965), of all lanes at once.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays,*-magic-numbers): hot sources hold no
// containers
namespace tare::npb::ft::TARE_NPB_SIMD {

[[gnu::always_inline]] inline void butterfly(Complex (&x)[4]) {
    const Complex sum_even = x[0] + x[2];
    const Complex difference_even = x[0] - x[2];
    const Complex sum_odd = x[1] + x[3];
    const Complex difference_odd = times_minus_i(x[1] - x[3]);
    x[0] = sum_even + sum_odd;
    x[1] = difference_even + difference_odd;
    x[2] = sum_even - sum_odd;
    x[3] = difference_even - difference_odd;
}

[[gnu::always_inline]] inline void butterfly(Complex (&x)[8]) {
    constexpr double root_half = 0.70710678118654752440;
    Complex even[4] = {x[0] + x[4], x[1] + x[5], x[2] + x[6], x[3] + x[7]};
    const Complex second = x[1] - x[5];
    const Complex fourth = x[3] - x[7];
    Complex odd[4] = {x[0] - x[4],
                      {root_half * (second.re + second.im), root_half * (second.im - second.re)},
                      times_minus_i(x[2] - x[6]),
                      {root_half * (fourth.im - fourth.re), -root_half * (fourth.re + fourth.im)}};
    butterfly(even);
    butterfly(odd);
#pragma GCC unroll 4
    for (std::ptrdiff_t index = 0; index < 4; ++index) {
        x[2 * index] = even[index];
        x[2 * index + 1] = odd[index];
    }
}

}  // namespace tare::npb::ft::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays,*-magic-numbers)
