// SPDX-License-Identifier: Apache-2.0
// MG's residual and smoother, both a 27-point operator, and norms. On periodic rows several at a time: sums
// that neighbouring rows share are made once, and what neighbours in x share is moved along in registers. On
// a block's row what neighbours in x share is summed once, for a piece of the row at a time.
#include <cstddef>

#include "npb/mg/operators.hpp"
#include "npb/mg/vector.hpp"

namespace tare::npb::mg::TARE_NPB_SIMD {

namespace {

/// The weight of an operator that is 0.
enum class Lacks { faces, corners };

/// Rows that are worked out side by side: more need fewer sums, but read from more places at a time than
/// processors foresee.
constexpr int side_by_side = 2;

/// At one vector of places of each row: the part of the result that needs no neighbour in x, and what each
/// place gives to both of its neighbours in x.
template <int rows>
struct Column {
    Vector own[rows];
    Vector given[rows];
};

/// Rows one after the other in memory; row 0 is the one before the first.
struct Consecutive {
    const double* below;
    const double* centre;
    const double* above;
    const double* base;
    double* result;
    std::ptrdiff_t stride;

    [[nodiscard, gnu::always_inline]] Vector centre_at(int row, int place) const {
        return load(centre + row * stride + place);
    }
    [[nodiscard, gnu::always_inline]] Vector beside_at(int row, int place) const {
        return load(below + row * stride + place) + load(above + row * stride + place);
    }
    [[nodiscard, gnu::always_inline]] Vector base_at(int row, int place) const {
        return load(base + row * stride + place);
    }
    [[gnu::always_inline]] void put(int row, int place, Vector value) const {
        store(result + row * stride + place, value);
    }
};

/// One row and those around it, anywhere.
struct Scattered {
    static constexpr int centre_plane = 3;
    static constexpr int above_plane = 6;
    const StencilRow& only;

    [[nodiscard, gnu::always_inline]] Vector centre_at(int row, int place) const {
        return load(only.around.row[centre_plane + row] + place);
    }
    [[nodiscard, gnu::always_inline]] Vector beside_at(int row, int place) const {
        return load(only.around.row[row] + place) + load(only.around.row[above_plane + row] + place);
    }
    [[nodiscard, gnu::always_inline]] Vector base_at(int /*row*/, int place) const {
        return load(only.base + place);
    }
    [[gnu::always_inline]] void put(int /*row*/, int place, Vector value) const {
        store(only.result + place, value);
    }
};

template <Lacks lacks, int rows, typename Source>
[[gnu::always_inline]] inline Column<rows> column(const Source& from, const Weights& weights, int place) {
    Vector centre[rows + 2];
    Vector beside[rows + 2];
    for (int row = 0; row < rows + 2; ++row) {
        centre[row] = from.centre_at(row, place);
        beside[row] = from.beside_at(row, place);
    }
    Column<rows> made{};
    for (int row = 0; row < rows; ++row) {
        const Vector faces = centre[row] + centre[row + 2] + beside[row + 1];
        const Vector diagonals = beside[row] + beside[row + 2];
        const Vector own =
            from.base_at(row, place) + weights.centre * centre[row + 1] + weights.edge * diagonals;
        if constexpr (lacks == Lacks::faces) {
            made.own[row] = own;
            made.given[row] = weights.edge * faces + weights.corner * diagonals;
        } else {
            made.own[row] = own + weights.face * faces;
            made.given[row] = weights.face * centre[row + 1] + weights.edge * faces;
        }
    }
    return made;
}

template <int rows, typename Source>
[[gnu::always_inline]] inline void finish(const Source& from, int place, const Column<rows>& before,
                                          const Column<rows>& here, const Column<rows>& after) {
    for (int row = 0; row < rows; ++row) {
        from.put(row, place,
                 here.own[row] + left_of(before.given[row], here.given[row]) +
                     right_of(here.given[row], after.given[row]));
    }
}

template <Lacks lacks, int rows, typename Source>
[[gnu::always_inline]] inline void add_block(const Source& from, Weights weights, int length) {
    const int last = length - width;
    Column<rows> before = column<lacks, rows>(from, weights, last);
    Column<rows> here = column<lacks, rows>(from, weights, 0);
    const Column<rows> start = here;
    for (int place = 0; place < last; place += width) {
        const Column<rows> after = column<lacks, rows>(from, weights, place + width);
        finish(from, place, before, here, after);
        before = here;
        here = after;
    }
    finish(from, last, before, here, start);
}

Consecutive from_row(const StencilRows& rows, int first) {
    const std::ptrdiff_t stride = rows.length;
    const std::ptrdiff_t offset = first * stride;
    return {.below = rows.below + offset,
            .centre = rows.centre + offset,
            .above = rows.above + offset,
            .base = rows.base + offset,
            .result = rows.result + offset,
            .stride = stride};
}

template <Lacks lacks>
void add_to_rows(const StencilRows& rows, const Weights& weights) {
    int row = 0;
    for (; row + side_by_side <= rows.rows; row += side_by_side) {
        add_block<lacks, side_by_side>(from_row(rows, row), weights, rows.length);
    }
    for (; row < rows.rows; ++row) {
        add_block<lacks, 1>(from_row(rows, row), weights, rows.length);
    }
}

template <Lacks lacks>
void add_to_row(const StencilRow& row, const Weights& weights) {
    add_block<lacks, 1>(Scattered{row}, weights, row.length);
}

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
void add_to_block_row(const StencilRow& row, const Weights& weights) {
    for (int first = 0; first < row.length; first += piece) {
        const int left = row.length - first;
        add_piece<lacks>(row, weights, first, left < piece ? left : piece);
    }
}

double sum_of_squares(const double* row, int length) {
    double sum = 0;
    for (int place = 0; place < length; ++place) {
        sum += row[place] * row[place];
    }
    return sum;
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

Functions functions() {
    return with_transfer({.periodic = {.add_without_faces = add_to_row<Lacks::faces>,
                                       .add_without_corners = add_to_row<Lacks::corners>},
                          .block = {.add_without_faces = add_to_block_row<Lacks::faces>,
                                    .add_without_corners = add_to_block_row<Lacks::corners>},
                          .add_without_faces_to_rows = add_to_rows<Lacks::faces>,
                          .add_without_corners_to_rows = add_to_rows<Lacks::corners>,
                          .sum_of_squares = sum_of_squares,
                          .largest = largest});
}

}  // namespace tare::npb::mg::TARE_NPB_SIMD
