// SPDX-License-Identifier: Apache-2.0
#pragma once

// The compressible Navier-Stokes system of LU, BT and SP in its normalised form, RNR-94-007 section 3.2.
namespace tare::npb::flow {

/// What is conserved at each point, in this order: density, three momenta, total energy.
constexpr int components = 5;
constexpr int density = 0;
constexpr int momentum_x = 1;
constexpr int momentum_y = 2;
constexpr int momentum_z = 3;
constexpr int energy = 4;

/// k1 of the report: the ratio of specific heats.
constexpr double heat_ratio = 1.4;
/// k2: pressure = k2 (energy - kinetic energy).
constexpr double pressure_factor = 0.4;
/// k3 k4.
constexpr double viscosity = 0.1;
/// k1 k5: what carries heat, as a multiple of the viscosity.
constexpr double conduction = 1.96;

/// The second-difference dissipation, the same for all components of a direction.
constexpr double dissipation_x = 0.75;
constexpr double dissipation_y = 0.75;
constexpr double dissipation_z = 1.0;
/// A quarter of the largest of these.
constexpr double fourth_dissipation = 0.25;

/// Of momentum along the direction itself; momentum across it has 1.
constexpr double normal_viscosity = 4.0 / 3.0;

// Usable in hot sources, and the numbers are the stencil's.
// NOLINTBEGIN(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays,*-magic-numbers)

/// Weights of the values at -2, -1, 0, 1, 2 places from a point.
struct FourthDifference {
    double weight[5];
};

/// The fourth difference at `place` of `edge` places, in the one-sided forms near the two ends (RNR-94-007
/// section 3.3.2). Places beyond the ends have weight 0, as do all at the ends themselves.
[[nodiscard, gnu::always_inline]] constexpr FourthDifference fourth_difference(int place, int edge) {
    if (place <= 0 || place >= edge - 1) {
        return {{0, 0, 0, 0, 0}};
    }
    FourthDifference found{{1, -4, 6, -4, 1}};
    if (place == 1) {
        found = {{0, 0, 5, -4, found.weight[4]}};
    } else if (place == 2) {
        found.weight[0] = 0;
    }
    if (place == edge - 2) {
        found = {{found.weight[0], found.weight[1], 5, 0, 0}};
    } else if (place == edge - 3) {
        found.weight[4] = 0;
    }
    return found;
}
// NOLINTEND(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays,*-magic-numbers)

}  // namespace tare::npb::flow
