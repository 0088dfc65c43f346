// SPDX-License-Identifier: Apache-2.0
// MG's operators on one row of a block, whose ghosts stand where a periodic row would begin again. What
// neighbours in x share is summed once, for a piece of the row at a time.
#include "npb/mg/block_rows.hpp"

namespace tare::npb::mg::TARE_NPB_SIMD {

namespace {

/// Points whose sums stay in the first cache.
constexpr int piece = 256;

/// The points around one in its plane of constant x, by their distance.
struct Sums {
    double faces[piece + 2];
    double diagonals[piece + 2];
};

/// Of the points from `first` - 1 on, so many.
[[gnu::always_inline]] inline void sum_around(const NineRows& rows, int first, int count, Sums& sums) {
    for (int at = 0; at < count; ++at) {
        const int place = first - 1 + at;
        const double faces =
            (rows.row[1][place] + rows.row[7][place]) + (rows.row[3][place] + rows.row[5][place]);
        const double diagonals =
            (rows.row[0][place] + rows.row[2][place]) + (rows.row[6][place] + rows.row[8][place]);
        sums.faces[at] = faces;
        sums.diagonals[at] = diagonals;
    }
}

template <Lacks lacks>
[[gnu::always_inline]] inline void add_piece(const StencilRow& row, const Weights& weights, int first,
                                             int count) {
    Sums sums;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
    sum_around(row.around, first, count + 2, sums);
    const double* const centre = row.around.row[4] + first;
    const double* const base = row.base + first;
    double* const result = row.result + first;
    for (int at = 0; at < count; ++at) {
        const double beside = centre[at - 1] + centre[at + 1];
        const double faces_beside = sums.faces[at] + sums.faces[at + 2];
        const double own = base[at] + weights.centre * centre[at];
        if constexpr (lacks == Lacks::faces) {
            const double corners = sums.diagonals[at] + sums.diagonals[at + 2];
            result[at] =
                own + weights.edge * (sums.diagonals[at + 1] + faces_beside) + weights.corner * corners;
        } else {
            result[at] = own + weights.face * (beside + sums.faces[at + 1]) +
                         weights.edge * (sums.diagonals[at + 1] + faces_beside);
        }
    }
}

template <Lacks lacks>
void add_operator(const StencilRow& row, const Weights& weights) {
    for (int first = 0; first < row.length; first += piece) {
        const int left = row.length - first;
        add_piece<lacks>(row, weights, first, left < piece ? left : piece);
    }
}

[[gnu::always_inline]] inline double mean_of_four(const double* const (&rows)[4], int place) {
    constexpr double quarter = 0.25;
    return quarter * ((rows[0][place] + rows[1][place]) + (rows[2][place] + rows[3][place]));
}

template <bool adds>
[[gnu::always_inline]] inline void put(double& into, double value) {
    into = adds ? into + value : value;
}

template <bool adds>
[[gnu::always_inline]] inline void prolong_point(const double* const (&coarse)[4], double* fine, int place) {
    constexpr double half = 0.5;
    put<adds>(fine[place],
              half * (mean_of_four(coarse, place >> 1) + mean_of_four(coarse, (place + 1) >> 1)));
}

template <bool adds>
void prolong(const double* const (&coarse)[4], double* fine, int first, int end) {
    constexpr double half = 0.5;
    int place = first;
    if ((place & 1) != 0) {
        prolong_point<adds>(coarse, fine, place++);
    }
    const int pairs = (end - place) / 2;
    const int coarse_first = place >> 1;
    for (int pair = coarse_first; pair < coarse_first + pairs; ++pair) {
        const double here = mean_of_four(coarse, pair);
        double* const two = fine + pair + pair;
        put<adds>(two[0], here);
        put<adds>(two[1], half * (here + mean_of_four(coarse, pair + 1)));
    }
    if (place + 2 * pairs < end) {
        prolong_point<adds>(coarse, fine, place + 2 * pairs);
    }
}

[[gnu::always_inline]] inline void restrict_piece(double* coarse, const NineRows& fine, int first,
                                                  int count) {
    constexpr double half = 0.5;
    constexpr double quarter = 0.25;
    double weighted[2 * piece + 1]{};
    for (int at = 0; at < 2 * count + 1; ++at) {
        const int place = 2 * first - 1 + at;
        const double faces =
            (fine.row[1][place] + fine.row[7][place]) + (fine.row[3][place] + fine.row[5][place]);
        const double corners =
            (fine.row[0][place] + fine.row[2][place]) + (fine.row[6][place] + fine.row[8][place]);
        weighted[at] = fine.row[4][place] + half * faces + quarter * corners;
    }
    for (int at = 0; at < count; ++at) {
        const double* const three = weighted + at + at;
        coarse[first + at] = half * three[1] + quarter * (three[0] + three[2]);
    }
}

void restrict_to(double* coarse, const NineRows& fine, int length) {
    for (int first = 0; first < length; first += piece) {
        const int left = length - first;
        restrict_piece(coarse, fine, first, left < piece ? left : piece);
    }
}

double largest(const double* row, int length) {
    double most = 0;
    for (int place = 0; place < length; ++place) {
        const double here = row[place] < 0 ? -row[place] : row[place];
        most = here > most ? here : most;
    }
    return most;
}

}  // namespace

BlockFunctions block_functions() {
    return {.add_without_faces = add_operator<Lacks::faces>,
            .add_without_corners = add_operator<Lacks::corners>,
            .prolong = prolong<false>,
            .add_prolonged = prolong<true>,
            .restrict_to = restrict_to,
            .largest = largest};
}

}  // namespace tare::npb::mg::TARE_NPB_SIMD
