// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/simd.hpp"

// Rows are what the hot functions work on: the points of one line in x, at an aligned address. A row is
// periodic: it is as long as the grid's edge, or holds several periods where the edge is shorter than
// `shortest_row`, so that vectors fit into the rows of every grid.
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

/// The weight of an operator that is 0.
enum class Lacks { faces, corners };

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

/// One row to work out, with the rows around it anywhere.
struct StencilRow {
    NineRows around;
    const double* base;
    double* result;
    int length;
};

/// result = base + operator(centre)
struct AddOperator {
    void (*to_rows)(const StencilRows& rows, const Weights& weights);
    void (*to_row)(const StencilRow& row, const Weights& weights);
};

/// The operators on a row of a block: its neighbours in x are ghosts, one before the row and one after it.
struct BlockFunctions {
    /// result = base + operator(centre), as in `Functions`.
    void (*add_without_faces)(const StencilRow& row, const Weights& weights);
    void (*add_without_corners)(const StencilRow& row, const Weights& weights);
    /// Fine places from `first` to before `end`, from the four coarse rows around them: fine place 2x lies on
    /// coarse place x.
    void (*prolong)(const double* const (&coarse)[4], double* fine, int first, int end);
    void (*add_prolonged)(const double* const (&coarse)[4], double* fine, int first, int end);
    /// `length` coarse places; weights as in `Functions`.
    void (*restrict_to)(double* coarse, const NineRows& fine, int length);
    /// The largest absolute value.
    double (*largest)(const double* row, int length);
};

struct Functions {
    /// For an operator whose `face` weight is 0, such as the Laplacian.
    AddOperator add_without_faces;
    /// For an operator whose `corner` weight is 0, such as the smoothers.
    AddOperator add_without_corners;
    /// A fine row from the four coarse rows around it (trilinear; the same row twice or four times where the
    /// fine row lies on coarse ones). The coarse rows have `coarse_length` values, the fine one `length`.
    void (*prolong)(const double* const (&coarse)[4], int coarse_length, double* fine, int length);
    /// The same, added to what the fine row holds.
    void (*add_prolonged)(const double* const (&coarse)[4], int coarse_length, double* fine, int length);
    /// A coarse row from the fine rows around it: weights 1/2, 1/4, 1/8, 1/16 by kind of neighbour (full
    /// weighting, times 4 for the coarse grid's spacing).
    void (*restrict_to)(double* coarse, int coarse_length, const NineRows& fine, int length);
    double (*sum_of_squares)(const double* row, int length);
    BlockFunctions blocks;
};

// NOLINTEND(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)

TARE_NPB_VARIANTS(Functions)

}  // namespace tare::npb::mg
