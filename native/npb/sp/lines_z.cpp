// SPDX-License-Identifier: Apache-2.0
// The sweep along z, and the step's last transformation: u is read, solved for, and corrected, line by line.
#include "npb/sp/lines.hpp"

// Vectors need plain pointers and arrays, which are set before they are read; places of lines are small
// numbers.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
// NOLINTBEGIN(bugprone-implicit-widening-of-multiplication-result,*-magic-numbers)
namespace tare::npb::sp::TARE_NPB_SIMD {

namespace {

using flow::View;

/// A point's link; `heat_root` is density * sound, which the backward sweep needs again.
[[gnu::always_inline]] inline Link<Vector> link_z(const Scheme& scheme, const double* u,
                                                  std::ptrdiff_t component, Vector& heat_root) {
    const Conserved here = conserved(u, component);
    const Vector volume = 1.0 / here.density;
    heat_root = root(sound_factor * here.heat);
    return {.convection = scheme.convection * here.momentum_z * volume,
            .sound = scheme.convection * heat_root * volume,
            .spread = scheme.spread_z + scheme.conduction * volume};
}

/// What the next vector of lines needs: its places are too far apart for the processor to foresee.
[[gnu::always_inline]] inline void fetch_ahead(const double* u, std::ptrdiff_t u_component,
                                               const double* field, std::ptrdiff_t field_component) {
#pragma GCC unroll 5
    for (int m = 0; m < waves; ++m) {
        __builtin_prefetch(u + m * u_component + lanes, 1);
        __builtin_prefetch(field + m * field_component + lanes);
    }
}

}  // namespace

void forward_z(const Scheme& scheme, View<const double> u, View<const double> field, int y, int x,
               double* state, double* kept) {
    const int begin = scheme.block.z.begin();
    const int end = scheme.block.z.end();
    Row<Vector> second_last = load_row(state);
    Row<Vector> last = load_row(state + row_numbers * lanes);
    Vector heat_root;
    Vector next_heat_root;
    Link<Vector> before = link_z(scheme, u.at(begin - 1, y) + x, u.component, heat_root);
    Link<Vector> here = link_z(scheme, u.at(begin, y) + x, u.component, heat_root);
    for (int z = begin; z < end; ++z) {
        fetch_ahead(u.at(z, y) + x, u.component, field.at(z, y) + x, field.component);
        const Link<Vector> after = link_z(scheme, u.at(z + 1, y) + x, u.component, next_heat_root);
        Row<Vector> row;
        const Five<Vector> values = load_five(field.at(z, y) + x, field.component);
#pragma GCC unroll 5
        for (int wave = 0; wave < waves; ++wave) {
            row.value[wave] = values.at[wave];
        }
        eliminate(second_last, last, before, here, after, scheme.weight_z[z].weight, row);
        store_row(kept + z * kept_z * lanes, row);
        store(kept + (z * kept_z + row_numbers) * lanes, heat_root);
        second_last = last;
        last = row;
        before = here;
        here = after;
        heat_root = next_heat_root;
    }
    store_row(state, second_last);
    store_row(state + row_numbers * lanes, last);
}

void backward_z(const Scheme& scheme, View<double> u, int y, int x, double* state, const double* kept) {
    After after = After::of(state);
    for (int z = scheme.block.z.end() - 1; z >= scheme.block.z.begin(); --z) {
        const Five<Vector> wave = after.step(load_row(kept + z * kept_z * lanes));
        const Vector heat_root = load(kept + (z * kept_z + row_numbers) * lanes);
        double* const cell = u.at(z, y) + x;
        Five<Vector> values = load_five(cell, u.component);
        const Vector density = values.at[0];
        const Vector inverse = 1.0 / (density * heat_root);
        const Vector volume = heat_root * inverse;
        Fluid<Vector> fluid{.density = density,
                            .velocity_x = values.at[1] * volume,
                            .velocity_y = values.at[2] * volume,
                            .velocity_z = values.at[3] * volume,
                            .kinetic{},
                            .sound = heat_root * volume};
        fluid.kinetic = 0.5 * (fluid.velocity_x * fluid.velocity_x + fluid.velocity_y * fluid.velocity_y +
                               fluid.velocity_z * fluid.velocity_z);
        const Five<Vector> change = from_waves_z(fluid, Vector(density * density * inverse), wave);
#pragma GCC unroll 5
        for (int m = 0; m < waves; ++m) {
            values.at[m] += change.at[m];
        }
        store_five(cell, u.component, values);
    }
    after.save(state);
}

}  // namespace tare::npb::sp::TARE_NPB_SIMD
// NOLINTEND(bugprone-implicit-widening-of-multiplication-result,*-magic-numbers)
// NOLINTEND(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
