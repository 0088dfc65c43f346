// SPDX-License-Identifier: Apache-2.0
// MG's transfer of rows between a grid and the next coarser one: prolongation and restriction. In y and z
// whole rows are weighted. In x, vectors of periodic rows are interleaved or taken apart; a block's rows are
// weighted once more, point by point.
#include "npb/mg/operators.hpp"
#include "npb/mg/vector.hpp"

namespace tare::npb::mg::TARE_NPB_SIMD {

namespace {

/// How a place of a row is read: as many points as a vector has lanes, or one.
struct VectorAt {
    int place;
    [[nodiscard, gnu::always_inline]] Vector operator()(const double* row) const { return load(row + place); }
};
struct PointAt {
    int place;
    [[nodiscard, gnu::always_inline]] double operator()(const double* row) const { return row[place]; }
};

template <typename Read>
[[gnu::always_inline]] inline auto mean(const FourRows& rows, Read read) {
    constexpr double quarter = 0.25;
    return quarter * ((read(rows.row[0]) + read(rows.row[1])) + (read(rows.row[2]) + read(rows.row[3])));
}

/// The nine rows in one, by their distance in y and z.
template <typename Read>
[[gnu::always_inline]] inline auto weighted(const NineRows& rows, Read read) {
    constexpr double half = 0.5;
    constexpr double quarter = 0.25;
    const auto faces = (read(rows.row[1]) + read(rows.row[7])) + (read(rows.row[3]) + read(rows.row[5]));
    const auto corners = (read(rows.row[0]) + read(rows.row[2])) + (read(rows.row[6]) + read(rows.row[8]));
    return read(rows.row[4]) + half * faces + quarter * corners;
}

template <bool adds>
[[gnu::always_inline]] inline void put(double* into, Vector value) {
    store(into, adds ? load(into) + value : value);
}

template <bool adds>
void prolong(const FourRows& coarse, int coarse_length, double* fine, int length) {
    constexpr double half = 0.5;
    Vector here = mean(coarse, VectorAt{0});
    for (int place = 0; 2 * place < length; place += width) {
        const Vector after = mean(coarse, VectorAt{place + width < coarse_length ? place + width : 0});
        const Vector between = half * (here + right_of(here, after));
        double* const pairs = fine + place + place;
        put<adds>(pairs, interleaved_low(here, between));
        put<adds>(pairs + width, interleaved_high(here, between));
        here = after;
    }
}

void restrict_to(double* coarse, int coarse_length, const NineRows& fine, int length) {
    constexpr double half = 0.5;
    constexpr double quarter = 0.25;
    Vector odd_before =
        odds(weighted(fine, VectorAt{length - 2 * width}), weighted(fine, VectorAt{length - width}));
    for (int place = 0; place < coarse_length; place += width) {
        const int from = 2 * place < length ? 2 * place : 2 * place - length;
        const Vector left = weighted(fine, VectorAt{from});
        const Vector right = weighted(fine, VectorAt{from + width});
        const Vector odd = odds(left, right);
        store(coarse + place, half * evens(left, right) + quarter * (odd + left_of(odd_before, odd)));
        odd_before = odd;
    }
}

// On a block's row.

template <bool adds>
[[gnu::always_inline]] inline void put(double& into, double value) {
    into = adds ? into + value : value;
}

template <bool adds>
[[gnu::always_inline]] inline void prolong_point(const FourRows& coarse, double* fine, int place) {
    constexpr double half = 0.5;
    put<adds>(fine[place],
              half * (mean(coarse, PointAt{place >> 1}) + mean(coarse, PointAt{(place + 1) >> 1})));
}

template <bool adds>
void prolong_block(const FourRows& coarse, int /*coarse_length*/, double* fine, int length) {
    constexpr double half = 0.5;
    prolong_point<adds>(coarse, fine, -1);
    const int pairs = (length + 1) / 2;
    for (int pair = 0; pair < pairs; ++pair) {
        const double here = mean(coarse, PointAt{pair});
        double* const two = fine + pair + pair;
        put<adds>(two[0], here);
        put<adds>(two[1], half * (here + mean(coarse, PointAt{pair + 1})));
    }
    if (2 * pairs < length + 1) {
        prolong_point<adds>(coarse, fine, 2 * pairs);
    }
}

/// Coarse points whose weighted rows stay in the first cache.
constexpr int coarse_piece = 256;

[[gnu::always_inline]] inline void restrict_piece(double* coarse, const NineRows& fine, int first,
                                                  int count) {
    constexpr double half = 0.5;
    constexpr double quarter = 0.25;
    double row[2 * coarse_piece + 1]{};
    for (int at = 0; at < 2 * count + 1; ++at) {
        row[at] = weighted(fine, PointAt{2 * first - 1 + at});
    }
    for (int at = 0; at < count; ++at) {
        const double* const three = row + at + at;
        coarse[first + at] = half * three[1] + quarter * (three[0] + three[2]);
    }
}

void restrict_block(double* coarse, int coarse_length, const NineRows& fine, int /*length*/) {
    for (int first = 0; first < coarse_length; first += coarse_piece) {
        const int left = coarse_length - first;
        restrict_piece(coarse, fine, first, left < coarse_piece ? left : coarse_piece);
    }
}

}  // namespace

Functions with_transfer(Functions functions) {
    functions.periodic.prolong = prolong<false>;
    functions.periodic.add_prolonged = prolong<true>;
    functions.periodic.restrict_to = restrict_to;
    functions.block.prolong = prolong_block<false>;
    functions.block.add_prolonged = prolong_block<true>;
    functions.block.restrict_to = restrict_block;
    return functions;
}

}  // namespace tare::npb::mg::TARE_NPB_SIMD
