// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/flow/lanes.hpp"
#include "npb/sp/eigenvectors.hpp"
#include "npb/sp/sweeps.hpp"

// For hot sources only: what the sweeps of all directions need. Always inline (see simd.hpp).
// Vectors need plain pointers and arrays, which are set before they are read; places of lines are small
// numbers.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result,*-magic-numbers)
namespace tare::npb::sp::TARE_NPB_SIMD {

using flow::TARE_NPB_SIMD::lanes;
using flow::TARE_NPB_SIMD::load;
using flow::TARE_NPB_SIMD::root;
using flow::TARE_NPB_SIMD::store;
using flow::TARE_NPB_SIMD::transpose;
using flow::TARE_NPB_SIMD::Vector;

/// heat_ratio * pressure_factor: sound^2 = this * (energy - kinetic energy) / density.
constexpr double sound_factor = flow::heat_ratio * flow::pressure_factor;

/// Conserved quantities of neighbouring points, and what is made of them.
struct Conserved {
    Vector density;
    Vector momentum_x;
    Vector momentum_y;
    Vector momentum_z;
    /// Momentum squared.
    Vector square;
    /// density * (energy - kinetic energy).
    Vector heat;
};

[[nodiscard, gnu::always_inline]] inline Conserved conserved(const double* row, std::ptrdiff_t component) {
    Conserved found;
    found.density = load(row);
    found.momentum_x = load(row + component);
    found.momentum_y = load(row + 2 * component);
    found.momentum_z = load(row + 3 * component);
    found.square = found.momentum_x * found.momentum_x + found.momentum_y * found.momentum_y +
                   found.momentum_z * found.momentum_z;
    found.heat = found.density * load(row + 4 * component) - 0.5 * found.square;
    return found;
}

[[nodiscard, gnu::always_inline]] inline Five<Vector> load_five(const double* row, std::ptrdiff_t component) {
    Five<Vector> five;
#pragma GCC unroll 5
    for (int m = 0; m < waves; ++m) {
        five.at[m] = load(row + m * component);
    }
    return five;
}

[[gnu::always_inline]] inline void store_five(double* row, std::ptrdiff_t component,
                                              const Five<Vector>& five) {
#pragma GCC unroll 5
    for (int m = 0; m < waves; ++m) {
        store(row + m * component, five.at[m]);
    }
}

/// A row's multipliers, as they lie in memory.
[[gnu::always_inline]] inline void store_multipliers(double* into, const Row<Vector>& row) {
#pragma GCC unroll 3
    for (int family = 0; family < families; ++family) {
        store(into + family * lanes, row.next[family]);
        store(into + (families + family) * lanes, row.after_next[family]);
    }
}

[[gnu::always_inline]] inline void load_multipliers(const double* from, Row<Vector>& row) {
#pragma GCC unroll 3
    for (int family = 0; family < families; ++family) {
        row.next[family] = load(from + family * lanes);
        row.after_next[family] = load(from + (families + family) * lanes);
    }
}

[[nodiscard, gnu::always_inline]] inline Row<Vector> load_row(const double* from) {
    Row<Vector> row;
    load_multipliers(from, row);
#pragma GCC unroll 5
    for (int wave = 0; wave < waves; ++wave) {
        row.value[wave] = load(from + (2 * families + wave) * lanes);
    }
    return row;
}

[[gnu::always_inline]] inline void store_row(double* into, const Row<Vector>& row) {
    store_multipliers(into, row);
#pragma GCC unroll 5
    for (int wave = 0; wave < waves; ++wave) {
        store(into + (2 * families + wave) * lanes, row.value[wave]);
    }
}

/// The solutions at i + 1 and i + 2.
struct After {
    Vector next[waves];
    Vector after_next[waves];

    [[nodiscard, gnu::always_inline]] static After of(const double* state) {
        After after;
#pragma GCC unroll 5
        for (int wave = 0; wave < waves; ++wave) {
            after.next[wave] = load(state + wave * lanes);
            after.after_next[wave] = load(state + (waves + wave) * lanes);
        }
        return after;
    }

    [[gnu::always_inline]] void save(double* state) const {
#pragma GCC unroll 5
        for (int wave = 0; wave < waves; ++wave) {
            store(state + wave * lanes, next[wave]);
            store(state + (waves + wave) * lanes, after_next[wave]);
        }
    }

    /// Solves one more row and steps to it.
    [[nodiscard, gnu::always_inline]] Five<Vector> step(const Row<Vector>& row) {
        Five<Vector> solution;
        substitute(row, next, after_next, solution.at);
#pragma GCC unroll 5
        for (int wave = 0; wave < waves; ++wave) {
            after_next[wave] = next[wave];
            next[wave] = solution.at[wave];
        }
        return solution;
    }
};

void solve_x(const Scheme& scheme, flow::View<const double> u, const flow::Rows& rows,
             flow::View<double> field, flow::View<double> links, double* scratch);
void forward_x(const Scheme& scheme, flow::View<const double> u, const flow::Rows& rows,
               flow::View<double> field, flow::View<double> links, double* state, double* kept);
void backward_x(const Scheme& scheme, const flow::Rows& rows, flow::View<double> field, double* state,
                double* kept);
void link_y(const Scheme& scheme, flow::View<const double> u, int z, int y, flow::View<double> links);
void forward_y(const Scheme& scheme, flow::View<const double> links, int z, int x, flow::View<double> field,
               double* state, double* kept);
void backward_y(const Scheme& scheme, int z, int x, flow::View<double> field, double* state,
                const double* kept);
void forward_z(const Scheme& scheme, flow::View<const double> u, flow::View<const double> field, int y, int x,
               double* state, double* kept);
void backward_z(const Scheme& scheme, flow::View<double> u, int y, int x, double* state, const double* kept);

}  // namespace tare::npb::sp::TARE_NPB_SIMD
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result,*-magic-numbers)
// NOLINTEND(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
