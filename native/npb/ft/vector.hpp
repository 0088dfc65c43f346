// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "npb/common/vector_width.hpp"
#include "npb/ft/pencils.hpp"

// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays,*-magic-numbers): hot sources hold no
// containers
namespace tare::npb::ft::TARE_NPB_SIMD {

// Vectors as wide as the variant's registers. Everything is inlined: no variant's code may serve another.

constexpr int width = vector_doubles;

using Vector [[gnu::vector_size(vector_byte)]] = double;

struct Complex {
    Vector re;
    Vector im;
};

[[gnu::always_inline]] inline Vector load(const double* from) {
    Vector value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

[[gnu::always_inline]] inline void store(double* to, Vector value) {
    __builtin_memcpy(to, &value, sizeof value);
}

#ifdef __SSE2__
constexpr bool has_streams = true;
#else
constexpr bool has_streams = false;
#endif

/// Past the caches, where the processor has that.
[[gnu::always_inline]] inline void stream(double* to, Vector value) {
#if defined(__AVX512F__)
    _mm512_stream_pd(to, value);
#elif defined(__AVX__)
    _mm256_stream_pd(to, value);
#elif defined(__SSE2__)
    _mm_stream_pd(to, value);
#else
    store(to, value);
#endif
}

/// Makes streamed values visible in order.
[[gnu::always_inline]] inline void finish_streams() {
#ifdef __SSE2__
    _mm_sfence();
#endif
}

/// The same number in all lanes.
[[gnu::always_inline]] inline Vector every(double value) { return Vector{} + value; }

[[gnu::always_inline]] inline std::ptrdiff_t smaller(std::ptrdiff_t left, std::ptrdiff_t right) {
    return left < right ? left : right;
}

[[gnu::always_inline]] inline Complex operator+(Complex left, Complex right) {
    return {left.re + right.re, left.im + right.im};
}

[[gnu::always_inline]] inline Complex operator-(Complex left, Complex right) {
    return {left.re - right.re, left.im - right.im};
}

[[gnu::always_inline]] inline Complex times(Complex value, Vector re, Vector im) {
    return {value.re * re - value.im * im, value.re * im + value.im * re};
}

/// value * exp(-2 pi i / 4).
[[gnu::always_inline]] inline Complex times_minus_i(Complex value) { return {value.im, -value.re}; }

template <int step, int... lane>
[[gnu::always_inline]] inline void exchange(Vector& low, Vector& high,
                                            std::integer_sequence<int, lane...> /*lanes*/) {
    const Vector first = low;
    const Vector second = high;
    low = __builtin_shufflevector(first, second, ((lane & step) == 0 ? lane : width + lane - step)...);
    high = __builtin_shufflevector(first, second, ((lane & step) == 0 ? lane + step : width + lane)...);
}

template <int step>
[[gnu::always_inline]] inline void transpose_from(Vector (&rows)[width]) {
    if constexpr (step < width) {
#pragma GCC unroll 8
        for (int row = 0; row < width; ++row) {
            if ((row & step) == 0) {
                exchange<step>(rows[row], rows[row + step], std::make_integer_sequence<int, width>{});
            }
        }
        transpose_from<2 * step>(rows);
    }
}

/// A square of numbers: rows become columns.
[[gnu::always_inline]] inline void transpose(Vector (&rows)[width]) { transpose_from<1>(rows); }

// Transforms of four and eight elements (Cooley and Tukey 1965), of all lanes at once.

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
