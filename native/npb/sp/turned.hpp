// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/sp/lines.hpp"

// For hot sources only: the sweep along x. Lines lie along vectors here, so that a block of as many rows as a
// vector has lanes is turned: first square by square into vectors across the lines, at last back. Internal to
// each source, so that each is compiled as if alone.
// Vectors need plain pointers and arrays, which are set before they are read; places of lines are small
// numbers.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result,*-magic-numbers)
namespace tare::npb::sp::TARE_NPB_SIMD {

using flow::View;

/// What is turned of each point: waves and a link.
constexpr int turned = waves + link_quantities;
/// Numbers of a square.
constexpr int square = lanes * lanes;

/// The transformation to waves, and all that the sweeps along x and y need of u: of a vector of places in one
/// row. The former go to that row of the squares of all numbers, the latter also to `link`.
[[gnu::always_inline]] inline void prepare(const Scheme& scheme, const double* u, std::ptrdiff_t u_component,
                                           const double* field, std::ptrdiff_t field_component, double* link,
                                           std::ptrdiff_t link_component, double* squares) {
    const Conserved here = conserved(u, u_component);
    const Vector inverse = 1.0 / (here.density * here.heat);
    const Vector volume = here.heat * inverse;
    const Vector sound = volume * root(sound_factor * here.heat);
    const Fluid<Vector> fluid{.density = here.density,
                              .velocity_x = here.momentum_x * volume,
                              .velocity_y = here.momentum_y * volume,
                              .velocity_z = here.momentum_z * volume,
                              .kinetic = 0.5 * here.square * volume * volume,
                              .sound = sound};
    const Vector inverse_square_sound =
        here.density * here.density * here.density * inverse * (1.0 / sound_factor);
    store_five(squares, square,
               to_waves_x(fluid, volume, inverse_square_sound, load_five(field, field_component)));
    const Vector linked_sound = scheme.convection * sound;
    const Vector spread = scheme.spread_xy + scheme.conduction * volume;
    store(squares + waves * square, scheme.convection * fluid.velocity_x);
    store(squares + (waves + 1) * square, linked_sound);
    store(squares + (waves + 2) * square, spread);
    store(link, scheme.convection * fluid.velocity_y);
    store(link + link_component, linked_sound);
    store(link + 2 * link_component, spread);
}

/// Squares into line order: lines[x][number], the links where the multipliers will be.
[[gnu::always_inline]] inline void turn_in(const double* squares, double* lines) {
    for (int number = 0; number < turned; ++number, squares += square) {
        Vector rows[lanes];
#pragma GCC unroll 8
        for (int row = 0; row < lanes; ++row) {
            rows[row] = load(squares + row * lanes);
        }
        transpose(rows);
        const int place = number < waves ? 2 * families + number : number - waves;
#pragma GCC unroll 8
        for (int row = 0; row < lanes; ++row) {
            store(lines + (row * row_numbers + place) * lanes, rows[row]);
        }
    }
}

/// At most as many rows as a vector has lanes; the lanes of rows beyond the last have nothing in them.
/// The places from `begin` on, up to the vector that `end` is in or follows.
static inline void prepare_lines(const Scheme& scheme, const View<const double>& u, const flow::Rows& rows,
                                 const View<double>& field, const View<double>& links, int begin, int end,
                                 double* lines) {
    alignas(Vector) double squares[turned * square] = {};
    for (int x = begin; x < end; x += lanes) {
        for (int y = rows.y_begin; y < rows.y_end; ++y) {
            prepare(scheme, u.at(rows.z, y) + x, u.component, field.at(rows.z, y) + x, field.component,
                    links.at(0, y) + x, links.component, squares + (y - rows.y_begin) * lanes);
        }
        turn_in(squares, lines + x * row_numbers * lanes);
    }
}

[[gnu::always_inline]] inline Link<Vector> load_link(const double* cell) {
    return {load(cell), load(cell + lanes), load(cell + 2 * lanes)};
}

/// From the two rows before the first, to the last two.
static inline void eliminate_lines(const Scheme& scheme, double* lines, Row<Vector>& second_last,
                                   Row<Vector>& last) {
    constexpr int stride = row_numbers * lanes;
    const int begin = scheme.block.x.begin();
    Link<Vector> before = load_link(lines + (begin - 1) * stride);
    Link<Vector> here = load_link(lines + begin * stride);
    for (int x = begin; x < scheme.block.x.end(); ++x) {
        double* const cell = lines + x * stride;
        const Link<Vector> after = load_link(cell + stride);
        Row<Vector> row;
#pragma GCC unroll 5
        for (int wave = 0; wave < waves; ++wave) {
            row.value[wave] = load(cell + (2 * families + wave) * lanes);
        }
        eliminate(second_last, last, before, here, after, scheme.weight_x[x].weight, row);
        store_row(cell, row);
        second_last = last;
        last = row;
        before = here;
        here = after;
    }
}

/// Back from line order, five waves of `lanes` places.
[[gnu::always_inline]] inline void turn_out(const double* lines, const View<double>& field,
                                            const flow::Rows& rows, int x) {
    for (int wave = 0; wave < waves; ++wave) {
        Vector squared[lanes];
#pragma GCC unroll 8
        for (int row = 0; row < lanes; ++row) {
            squared[row] = load(lines + (row * row_numbers + 2 * families + wave) * lanes);
        }
        transpose(squared);
        for (int row = 0; row < rows.y_end - rows.y_begin; ++row) {
            store(field.at(rows.z, rows.y_begin + row, wave) + x, squared[row]);
        }
    }
}

/// Waves along y, into the field.
static inline void substitute_lines(const Scheme& scheme, double* lines, const View<double>& field,
                                    const flow::Rows& rows, After& after) {
    const int begin = scheme.block.x.begin();
    const int end = scheme.block.x.end();
    for (int first = (scheme.block.x.count - 1) / lanes * lanes; first >= 0; first -= lanes) {
        const int last = first + lanes < end ? first + lanes - 1 : end - 1;
        for (int x = last; x >= first && x >= begin; --x) {
            double* const cell = lines + x * row_numbers * lanes;
            store_five(cell + 2 * families * lanes, lanes, x_to_y(after.step(load_row(cell))));
        }
        turn_out(lines + first * row_numbers * lanes, field, rows, first);
    }
}

}  // namespace tare::npb::sp::TARE_NPB_SIMD
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result,*-magic-numbers)
// NOLINTEND(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
