// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/ft/hot.hpp"
#include "npb/ft/vector.hpp"

// Where the elements of lines lie, and what happens to them on the way in and out.
namespace tare::npb::ft::TARE_NPB_SIMD {

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
