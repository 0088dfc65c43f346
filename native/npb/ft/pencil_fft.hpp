// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/buffer.hpp"
#include "npb/ft/pencils.hpp"
#include "npb/ft/vector.hpp"

// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays,*-magic-numbers,readability-non-const-parameter):
// hot sources hold no containers; radices are numbers; the work memory is written to
namespace tare::npb::ft::TARE_NPB_SIMD {

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

// One transform of some lines side by side: decimation in frequency (Gentleman and Sande 1966), in place in a
// work memory, where the first pass reads from anywhere and the last writes to anywhere, in natural order.

/// The elements that a butterfly takes or gives.
struct Stride {
    Index first;
    Index step;
};

template <int radix, bool has_twiddles, typename From, typename To>
[[gnu::always_inline]] inline void combine_vector(const From& from,
                                                  const typename From::Address (&source)[radix], const To& to,
                                                  const typename To::Address (&sink)[radix],
                                                  const double* twiddle, Spot spot) {
    Complex x[radix];
#pragma GCC unroll 8
    for (int index = 0; index < radix; ++index) {
        x[index] = from.read(source[index], spot);
    }
    butterfly(x);
    to.write(sink[0], spot, x[0]);
#pragma GCC unroll 8
    for (Index index = 1; index < radix; ++index) {
        if constexpr (has_twiddles) {
            x[index] = times(x[index], every(twiddle[2 * index - 2]), every(twiddle[2 * index - 1]));
        }
        to.write(sink[index], spot, x[index]);
    }
}

/// Gathers the blocks of one line before it writes them: a processor sends a cache line past the caches at
/// once only if few others are begun before it is whole, and narrow vectors begin 16 at a time.
template <int radix, bool has_twiddles, typename From, typename To>
[[gnu::always_inline]] inline void combine_gathered(const From& from,
                                                    const typename From::Address (&source)[radix],
                                                    const To& to, const typename To::Address (&sink)[radix],
                                                    const double* twiddle, Index line) {
    alignas(buffer_alignment_byte) double blocks[radix * block_doubles];
    double* gathered[radix];
#pragma GCC unroll 8
    for (Index index = 0; index < radix; ++index) {
        gathered[index] = blocks + index * block_doubles;
    }
    const Gathered kept{to.parts};
    for (Index vector = 0; vector < block_vectors; ++vector) {
        combine_vector<radix, has_twiddles>(from, source, kept, gathered, twiddle, {line, vector});
    }
#pragma GCC unroll 8
    for (Index index = 0; index < radix; ++index) {
        to.write_block(sink[index], line, gathered[index]);
    }
}

/// One butterfly of each line, all but the first of its results multiplied with twiddles if so wanted.
template <int radix, bool has_twiddles, typename From, typename To>
[[gnu::always_inline]] inline void combine(const From& from, Stride in, const To& to, Stride out,
                                           const double* twiddle, Index lines, Prefetch& prefetch) {
    typename From::Address source[radix];
    typename To::Address sink[radix];
#pragma GCC unroll 8
    for (int index = 0; index < radix; ++index) {
        source[index] = from.at(in.first + index * in.step);
        sink[index] = to.at(out.first + index * out.step);
    }
    for (Index line = 0; line < lines; ++line) {
        if constexpr (To::is_gathered) {
            combine_gathered<radix, has_twiddles>(from, source, to, sink, twiddle, line);
        } else {
#pragma GCC unroll 1  // two butterflies at once need more registers than there are
            for (Index vector = 0; vector < block_vectors; ++vector) {
                combine_vector<radix, has_twiddles>(from, source, to, sink, twiddle, {line, vector});
            }
        }
    }
    prefetch_some(prefetch);
}

template <int radix, typename From>
[[gnu::always_inline]] inline void radix_pass(const Pass& pass, const From& from, const Strided& to,
                                              Index lines, Prefetch& prefetch) {
    const double* twiddle = pass.twiddle;
    for (Index index = 0; index < pass.next; ++index) {
        combine<radix, true>(from, {index, pass.next}, to, {index, pass.next}, twiddle, lines, prefetch);
        twiddle += Index{2} * (radix - 1);
    }
}

/// A pass that is not the last.
template <typename From>
[[gnu::always_inline]] inline void do_pass(const Pass& pass, const From& from, const Strided& to, Index lines,
                                           Prefetch& prefetch) {
    if (pass.radix == 8) {
        radix_pass<8>(pass, from, to, lines, prefetch);
    } else {
        radix_pass<4>(pass, from, to, lines, prefetch);
    }
}

template <int radix, typename To>
[[gnu::always_inline]] inline void radix_last_pass(const Line& line, const Strided& from, Stride butterflies,
                                                   const To& to, Index lines, Prefetch& prefetch) {
    for (Index number = butterflies.first; number < butterflies.first + butterflies.step; ++number) {
        combine<radix, false>(from, {number * radix, 1}, to, {line.position[number], line.length / radix},
                              nullptr, lines, prefetch);
    }
}

/// Some butterflies of the last pass.
template <typename To>
[[gnu::always_inline]] inline void last_pass(const Line& line, const Strided& from, Stride butterflies,
                                             const To& to, Index lines, Prefetch& prefetch) {
    if (line.pass[line.passes - 1].radix == 8) {
        radix_last_pass<8>(line, from, butterflies, to, lines, prefetch);
    } else {
        radix_last_pass<4>(line, from, butterflies, to, lines, prefetch);
    }
}

/// The passes between the first and the last, on `length` elements from `start` on.
[[gnu::always_inline]] inline void middle_passes(const Line& line, const Strided& start, Index length,
                                                 Index lines, Prefetch& prefetch) {
    for (int number = 1; number < line.passes - 1; ++number) {
        const Pass& pass = line.pass[number];
        for (Index first = 0; first < length; first += pass.radix * pass.next) {
            const Strided here{start.at(first), start.element_doubles};
            do_pass(pass, here, here, lines, prefetch);
        }
    }
}

/// A transform of one pass needs no work memory.
template <typename From, typename To>
[[gnu::always_inline]] inline void transform_once(const Line& line, const From& from, const To& to,
                                                  Index lines, Prefetch& prefetch) {
    if (line.pass[0].radix == 8) {
        combine<8, false>(from, {0, 1}, to, {0, 1}, nullptr, lines, prefetch);
    } else {
        combine<4, false>(from, {0, 1}, to, {0, 1}, nullptr, lines, prefetch);
    }
}

/// After the first pass each of its parts goes through all others while it is in the first cache. The lines
/// may lie in the work memory from the start.
template <typename From, typename To>
[[gnu::always_inline]] inline void transform(const Line& line, const From& from, const To& to, Index lines,
                                             double* memory, Prefetch& prefetch) {
    const Pass& first = line.pass[0];
    if (line.passes == 1) {
        transform_once(line, from, to, lines, prefetch);
        return;
    }
    const Strided work{memory, work_element_doubles(lines)};
    do_pass(first, from, work, lines, prefetch);
    const Index butterflies = first.next / line.pass[line.passes - 1].radix;
    for (Index part = 0; part < first.radix; ++part) {
        middle_passes(line, {work.at(part * first.next), work.element_doubles}, first.next, lines, prefetch);
        last_pass(line, work, {part * butterflies, butterflies}, to, lines, prefetch);
    }
}

}  // namespace tare::npb::ft::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays,*-magic-numbers,readability-non-const-parameter)
