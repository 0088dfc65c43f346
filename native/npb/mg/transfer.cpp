// SPDX-License-Identifier: Apache-2.0
// MG's transfer of rows between a grid and the next coarser one. In y and z whole rows are weighted; in x
// vectors are interleaved or taken apart.
#include "npb/mg/transfer.hpp"

#include "npb/mg/vectors.hpp"

namespace tare::npb::mg::TARE_NPB_SIMD {

namespace {

[[gnu::always_inline]] inline Vector mean(const double* const (&rows)[4], int place) {
    constexpr double quarter = 0.25;
    return quarter * ((load(rows[0] + place) + load(rows[1] + place)) +
                      (load(rows[2] + place) + load(rows[3] + place)));
}

template <bool adds>
[[gnu::always_inline]] inline void put(double* into, Vector value) {
    store(into, adds ? load(into) + value : value);
}

template <bool adds>
[[gnu::always_inline]] inline void prolong_row(const double* const (&coarse)[4], int coarse_length,
                                               double* fine, int length) {
    constexpr double half = 0.5;
    Vector here = mean(coarse, 0);
    for (int place = 0; 2 * place < length; place += width) {
        const Vector after = mean(coarse, place + width < coarse_length ? place + width : 0);
        const Vector between = half * (here + right_of(here, after));
        double* const pairs = fine + place + place;
        put<adds>(pairs, interleaved_low(here, between));
        put<adds>(pairs + width, interleaved_high(here, between));
        here = after;
    }
}

/// The nine rows in one, by their distance in y and z.
[[gnu::always_inline]] inline Vector weighted(const NineRows& rows, int place) {
    constexpr double half = 0.5;
    constexpr double quarter = 0.25;
    const Vector faces = (load(rows.row[1] + place) + load(rows.row[7] + place)) +
                         (load(rows.row[3] + place) + load(rows.row[5] + place));
    const Vector corners = (load(rows.row[0] + place) + load(rows.row[2] + place)) +
                           (load(rows.row[6] + place) + load(rows.row[8] + place));
    return load(rows.row[4] + place) + half * faces + quarter * corners;
}

}  // namespace

void prolong(const double* const (&coarse)[4], int coarse_length, double* fine, int length) {
    prolong_row<false>(coarse, coarse_length, fine, length);
}

void add_prolonged(const double* const (&coarse)[4], int coarse_length, double* fine, int length) {
    prolong_row<true>(coarse, coarse_length, fine, length);
}

void restrict_to(double* coarse, int coarse_length, const NineRows& fine, int length) {
    constexpr double half = 0.5;
    constexpr double quarter = 0.25;
    Vector odd_before = odds(weighted(fine, length - 2 * width), weighted(fine, length - width));
    for (int place = 0; place < coarse_length; place += width) {
        const int from = 2 * place < length ? 2 * place : 2 * place - length;
        const Vector left = weighted(fine, from);
        const Vector right = weighted(fine, from + width);
        const Vector odd = odds(left, right);
        store(coarse + place, half * evens(left, right) + quarter * (odd + left_of(odd_before, odd)));
        odd_before = odd;
    }
}

}  // namespace tare::npb::mg::TARE_NPB_SIMD
