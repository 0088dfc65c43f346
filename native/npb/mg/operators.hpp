// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/simd.hpp"

// MG's operators. They work on rows: the points of one line in x, at an aligned address. A row is periodic,
// or a block's with a halo. A periodic row is as long as the grid's edge, or holds several periods where the
// edge is shorter than `shortest_row`, so that vectors fit into the rows of every grid.
namespace tare::npb::mg {

// NOLINTBEGIN(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays): hot sources hold no std::array

constexpr int shortest_row = 16;

/// A 27-point operator's weights by the kind of neighbour.
struct Weights {
    double centre;
    double face;
    double edge;
    double corner;
};

/// The discrete Laplacian A, negative: what the residual v - A u adds (NAS-95-020, section 2.4).
constexpr Weights minus_laplacian{.centre = 8.0 / 3, .face = 0, .edge = -1.0 / 6, .corner = -1.0 / 12};
/// The smoother S(a).
constexpr Weights smoother_a{.centre = -3.0 / 8, .face = 1.0 / 32, .edge = -1.0 / 64, .corner = 0};
/// The smoother S(b).
constexpr Weights smoother_b{.centre = -3.0 / 17, .face = 1.0 / 33, .edge = -1.0 / 61, .corner = 0};

/// Consecutive rows of one plane to work out, with the rows around them. Rows that follow each other in y do
/// so in memory, in all five places.
struct StencilRows {
    /// The row before the first, in the planes at z-1, z and z+1.
    const double* below;
    const double* centre;
    const double* above;
    /// The first row of what is added to; may be `result`.
    const double* base;
    double* result;
    int rows;
    /// Values in a row.
    int length;
};

/// A row of the plane at z and those around it: y-1, y, y+1 at z-1, then at z, then at z+1.
struct NineRows {
    static constexpr int count = 9;
    const double* row[count];
};

/// The coarse rows around a fine one: the same row twice or four times where the fine row lies on coarse
/// ones.
struct FourRows {
    static constexpr int count = 4;
    const double* row[count];
};

/// One row to work out, with the rows around it anywhere.
struct StencilRow {
    NineRows around;
    const double* base;
    double* result;
    int length;
};

/// The operators on one row. `length` and `coarse_length` are `Grid::points` of the row.
struct RowOperators {
    /// result = base + operator(centre), for an operator whose `face` weight is 0, such as the Laplacian.
    void (*add_without_faces)(const StencilRow& row, const Weights& weights) = nullptr;
    /// For an operator whose `corner` weight is 0, such as the smoothers.
    void (*add_without_corners)(const StencilRow& row, const Weights& weights) = nullptr;
    /// Prolongation: a fine row from the coarse rows around it (trilinear).
    void (*prolong)(const FourRows& coarse, int coarse_length, double* fine, int length) = nullptr;
    /// The same, added to what the fine row holds.
    void (*add_prolonged)(const FourRows& coarse, int coarse_length, double* fine, int length) = nullptr;
    /// Restriction: a coarse row from the fine rows around it, with weights 1/2, 1/4, 1/8, 1/16 by the kind
    /// of neighbour (full weighting, times 4 for the coarse grid's spacing).
    void (*restrict_to)(double* coarse, int coarse_length, const NineRows& fine, int length) = nullptr;
};

struct Functions {
    /// Rows that are periodic.
    RowOperators periodic{};
    /// Rows of a block: their neighbours in x are the halo's, a point before the row and one after it.
    RowOperators block{};
    /// `periodic.add_without_faces` on rows that lie one after the other, and the same without corners.
    void (*add_without_faces_to_rows)(const StencilRows& rows, const Weights& weights) = nullptr;
    void (*add_without_corners_to_rows)(const StencilRows& rows, const Weights& weights) = nullptr;
    double (*sum_of_squares)(const double* row, int length) = nullptr;
    /// The largest absolute value.
    double (*largest)(const double* row, int length) = nullptr;
};

// NOLINTEND(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)

TARE_NPB_VARIANTS(Functions)

}  // namespace tare::npb::mg
