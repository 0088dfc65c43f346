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

// Where the elements of lines lie, and what happens to them on the way in and out.

using Index = std::ptrdiff_t;

/// The parts of a block that one vector holds.
constexpr Index block_vectors = block_points / width;

/// Where a block's parts lie; swapped for the inverse.
struct Parts {
    Index re = 0;
    Index im = block_points;
};

[[nodiscard, gnu::always_inline]] inline Parts parts_for(Direction direction) {
    return direction == Direction::forward ? Parts{0, block_points} : Parts{block_points, 0};
}

/// One vector of a block: block number `line` from an address on, or of the row number `line`.
struct Spot {
    Index line;
    Index vector;
};

[[nodiscard, gnu::always_inline]] inline Complex read_parts(const double* block, const Parts& parts) {
    return {load(block + parts.re), load(block + parts.im)};
}

[[gnu::always_inline]] inline void write_parts(double* block, const Parts& parts, Complex value) {
    store(block + parts.re, value.re);
    store(block + parts.im, value.im);
}

/// A block of one's own.
struct Gathered {
    using Address = double*;
    Parts parts{};

    [[gnu::always_inline]] void write(Address place, Spot spot, Complex value) const {
        write_parts(place + spot.vector * width, parts, value);
    }
};

/// Elements at a fixed distance; their lines are blocks side by side.
struct Strided {
    using Address = double*;
    static constexpr bool is_gathered = false;
    double* start = nullptr;
    Index element_doubles = 0;
    Parts parts{};

    [[nodiscard, gnu::always_inline]] Address at(Index element) const {
        return start + element * element_doubles;
    }
    [[nodiscard, gnu::always_inline]] Complex read(const double* place, Spot spot) const {
        return read_parts(place + spot.line * block_doubles + spot.vector * width, parts);
    }
    [[gnu::always_inline]] void write(Address place, Spot spot, Complex value) const {
        write_parts(place + spot.line * block_doubles + spot.vector * width, parts, value);
    }
};

/// The same, each element multiplied with its twiddle on the way in.
struct Twiddled : Strided {
    struct Address {
        const double* block;
        const double* twiddle;
    };
    const double* twiddle = nullptr;

    [[nodiscard, gnu::always_inline]] Address at(Index element) const {
        return {Strided::at(element), twiddle + 2 * element};
    }
    [[nodiscard, gnu::always_inline]] Complex read(Address place, Spot spot) const {
        return times(Strided::read(place.block, spot), every(place.twiddle[0]), every(place.twiddle[1]));
    }
};

/// The same, each element multiplied with row[element] * along * across[x].
struct Evolved : Strided {
    struct Address {
        const double* block;
        double factor;
    };
    const double* row = nullptr;
    double along = 0;
    const double* across = nullptr;

    [[nodiscard, gnu::always_inline]] Address at(Index element) const {
        return {Strided::at(element), row[element] * along};
    }
    [[nodiscard, gnu::always_inline]] Complex read(Address place, Spot spot) const {
        const Complex value = Strided::read(place.block, spot);
        const Vector factor = place.factor * load(across + spot.line * block_points + spot.vector * width);
        return {factor * value.re, factor * value.im};
    }
};

/// Elements that lie anywhere; their lines are `line_doubles` apart.
struct Table {
    using Address = double*;
    static constexpr bool is_gathered = false;
    double* const* element = nullptr;
    Index shift = 0;
    Index line_doubles = 0;
    Parts parts{};

    [[nodiscard, gnu::always_inline]] Address at(Index index) const { return element[index] + shift; }
    [[nodiscard, gnu::always_inline]] Complex read(const double* place, Spot spot) const {
        return read_parts(place + spot.line * line_doubles + spot.vector * width, parts);
    }
    [[gnu::always_inline]] void write(Address place, Spot spot, Complex value) const {
        write_parts(place + spot.line * line_doubles + spot.vector * width, parts, value);
    }
};

/// The same, written past the caches.
struct Streamed : Table {
    static constexpr bool is_gathered = has_streams && width < block_points;
    [[gnu::always_inline]] void write_block(Address place, Index line, const double* block) const {
#pragma GCC unroll 8
        for (Index part = 0; part < block_doubles; part += width) {
            stream(place + line * line_doubles + part, load(block + part));
        }
    }
    [[gnu::always_inline]] void write(Address place, Spot spot, Complex value) const {
        double* const block = place + spot.line * line_doubles + spot.vector * width;
        stream(block + parts.re, value.re);
        stream(block + parts.im, value.im);
    }
};

[[nodiscard, gnu::always_inline]] inline Table table_of(const Pencils& side, Index shift, Index line_doubles,
                                                        Direction direction) {
    return {side.element, side.start_doubles + shift, line_doubles, parts_for(direction)};
}

/// Asks for the next piece, if any is left.
[[gnu::always_inline]] inline void prefetch_piece(Prefetch& prefetch) {
    constexpr Index line_doubles = 8;
    if (prefetch.pieces == 0) {
        return;
    }
    const double* const piece = prefetch.element[prefetch.next_element] + prefetch.start_doubles;
    for (Index line = 0; line < prefetch.piece_doubles; line += line_doubles) {
        constexpr int second_cache = 2;
        __builtin_prefetch(piece + line, 0, second_cache);
    }
    if (++prefetch.next_element == prefetch.elements) {
        prefetch.next_element = 0;
        prefetch.start_doubles += prefetch.next_piece_doubles;
        --prefetch.pieces;
    }
}

[[gnu::always_inline]] inline void prefetch_some(Prefetch& prefetch) {
    for (int piece = 0; piece < prefetch.pace; ++piece) {
        prefetch_piece(prefetch);
    }
}

}  // namespace tare::npb::ft::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays,*-magic-numbers)
