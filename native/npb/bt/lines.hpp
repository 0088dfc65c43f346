// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "npb/common/simd.hpp"
#include "npb/flow/block.hpp"
#include "npb/flow/right_hand_side.hpp"
#include "npb/flow/view.hpp"

namespace tare::npb::bt {

/// Numbers that elimination keeps of each point: the block that couples it to the next, and its right-hand
/// side.
constexpr int kept = flow::components * (flow::components + 1);

/// As many lines as a vector has lanes, side by side in x, along y or z.
struct Bundle {
    /// The fluid at the lines' first place.
    double* u = nullptr;
    /// The right-hand side there.
    double* right = nullptr;
    /// Doubles from one component to the next, in both.
    std::ptrdiff_t component = 0;
    /// Doubles from one place of the lines to the next.
    std::ptrdiff_t u_step = 0;
    std::ptrdiff_t right_step = 0;
    flow::Extent extent{};
    double time_step = 0;
    /// Room for kept * lanes * extent.count doubles, from elimination to substitution.
    double* kept = nullptr;
};

/// At most as many lines along x as a vector has lanes: rows of a plane, of which a rank holds a part.
struct LinesX {
    flow::Block block{};
    double time_step = 0;
    flow::View<const double> u{};
    flow::View<double> right{};
    flow::Rows rows{};
    /// Room for `x_scratch` doubles, for the moment.
    double* scratch = nullptr;
    /// As in `Bundle`.
    double* kept = nullptr;
};

struct Functions {
    int lanes;
    /// Solves the systems along x of some rows of a plane; the solution replaces the right-hand side.
    /// `scratch` has room for `x_scratch` doubles.
    void (*solve_x)(const flow::Block& block, double time_step, flow::View<const double> u,
                    flow::View<double> right, const flow::Rows& rows, double* scratch);
    /// Eliminates along the lines. `state`, kept * lanes: what is kept of the place before this rank's first
    /// one (zeros at the boundary); becomes that of the last one.
    void (*eliminate_y)(const Bundle& bundle, double* state);
    void (*eliminate_z)(const Bundle& bundle, double* state);
    /// Substitutes backwards. `state`, components * lanes: the solution at the place after this rank's last
    /// one (zeros at the boundary); becomes that at the first one. The solution replaces the right-hand side.
    void (*substitute)(const Bundle& bundle, double* state);
    /// The same, but adds the solution to `u`.
    void (*substitute_and_add)(const Bundle& bundle, double* state);
    /// The two ways along x, where a rank holds a part of the rows; u has ghosts before and behind it.
    void (*eliminate_x)(const LinesX& lines, double* state);
    void (*substitute_x)(const LinesX& lines, double* state);
};

/// Doubles that `solve_x`, `eliminate_x` and `substitute_x` need for rows of this length.
[[nodiscard]] constexpr std::size_t x_scratch(int row_length) {
    constexpr std::size_t most_lanes = 8;
    constexpr std::size_t per_point = kept + 2 * flow::components;
    return most_lanes * per_point * (static_cast<std::size_t>(row_length) + most_lanes);
}

TARE_NPB_VARIANTS(Functions)

}  // namespace tare::npb::bt
