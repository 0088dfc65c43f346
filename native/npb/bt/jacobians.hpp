// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/flow/lanes.hpp"
#include "npb/flow/physics.hpp"

// Vectors need plain arrays, and are set element by element; the numbers come from derivatives.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-magic-numbers)
// NOLINTBEGIN(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)
namespace tare::npb::bt::TARE_NPB_SIMD {

using flow::TARE_NPB_SIMD::lanes;
using flow::TARE_NPB_SIMD::load;
using flow::TARE_NPB_SIMD::store;
using flow::TARE_NPB_SIMD::transpose;
using flow::TARE_NPB_SIMD::Vector;

constexpr int size = flow::components;

/// A 5x5 matrix of each lane's line. Rows: whose equation; columns: on what it depends.
struct Matrix {
    Vector at[size][size];
};

/// What one direction's implicit operator is made of, already multiplied by the time step.
struct Factors {
    /// time step / (2 step), of the convective Jacobian.
    double convection;
    /// time step * viscosity / step^2, of the viscous Jacobian.
    double viscous;
    /// time step * dissipation / step^2, of the identity.
    double diffusion;
};

/// Where the convective Jacobian along an axis is not zero: momentum along the axis and energy depend on all,
/// the density on that momentum, the other momenta on it, on themselves and on the density.
[[nodiscard, gnu::always_inline]] constexpr bool is_convective(int normal, int row, int column) {
    const int along = flow::momentum_x + normal;
    if (row == along || row == flow::energy || column == along) {
        return true;
    }
    return row != flow::density && (row == column || column == flow::density);
}

/// Where the viscous Jacobian or the identity is not zero.
[[nodiscard, gnu::always_inline]] constexpr bool is_viscous(int row, int column) {
    return row == column || row == flow::energy || (row != flow::density && column == flow::density);
}

/// `factor` * the Jacobian of the flux along an axis (RNR-94-007 section 3.2, the derivatives of E, F and G).
/// Sets what `is_convective`. `specific_energy`: energy / density.
template <int normal>
[[gnu::always_inline]] inline void set_convective(const Vector (&velocity)[3], const Vector& specific_energy,
                                                  double factor, Matrix& jacobian) {
    constexpr int along = flow::momentum_x + normal;
    constexpr double compression = flow::pressure_factor;
    const Vector square = velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2];
    const Vector kinetic = 0.5 * compression * square;
    const Vector carried = factor * velocity[normal];
    const Vector heat = flow::heat_ratio * specific_energy;
    auto& at = jacobian.at;
    at[flow::density][along] = Vector{} + factor;
#pragma GCC unroll 3
    for (int axis = 0; axis < 3; ++axis) {
        const int row = flow::momentum_x + axis;
        at[row][flow::density] = -carried * velocity[axis];
        at[flow::energy][row] = -compression * carried * velocity[axis];
        if (axis != normal) {
            at[row][along] = factor * velocity[axis];
            at[row][row] = carried;
            at[along][row] = -compression * factor * velocity[axis];
        }
    }
    at[along][flow::density] += factor * kinetic;
    at[along][along] = (2.0 - compression) * carried;
    at[along][flow::energy] = Vector{} + compression * factor;
    at[flow::energy][flow::density] = carried * (2.0 * kinetic - heat);
    at[flow::energy][along] += factor * (heat - kinetic);
    at[flow::energy][flow::energy] = flow::heat_ratio * carried;
}

/// time step / step^2 * (the Jacobian of the viscous flux + dissipation * identity) (the derivatives of T, V
/// and W). Sets what `is_viscous`. `volume`: 1 / density.
template <int normal>
[[gnu::always_inline]] inline void set_viscous(const Vector (&velocity)[3], const Vector& specific_energy,
                                               const Vector& volume, const Factors& factors,
                                               Matrix& jacobian) {
    auto& at = jacobian.at;
    const Vector conductive = flow::conduction * factors.viscous * volume;
    Vector heat = conductive * specific_energy;
    at[flow::density][flow::density] = Vector{} + factors.diffusion;
#pragma GCC unroll 3
    for (int axis = 0; axis < 3; ++axis) {
        const int row = flow::momentum_x + axis;
        const Vector viscous = (axis == normal ? flow::normal_viscosity : 1.0) * factors.viscous * volume;
        const Vector work = (viscous - conductive) * velocity[axis];
        at[row][flow::density] = -viscous * velocity[axis];
        at[row][row] = viscous + factors.diffusion;
        at[flow::energy][row] = work;
        heat += work * velocity[axis];
    }
    at[flow::energy][flow::density] = -heat;
    at[flow::energy][flow::energy] = conductive + factors.diffusion;
}

/// Where `after` and `before` are not zero.
[[nodiscard, gnu::always_inline]] constexpr bool is_coupled(int normal, int row, int column) {
    return is_convective(normal, row, column) || is_viscous(row, column);
}

/// How the unknowns of a point enter three equations (central differences, RNR-94-007 section 3.4): its own
/// as identity + 2 own, that of the place after it as -after, that of the place before it as `before`. From
/// the point's five conserved values.
template <int normal>
[[gnu::always_inline]] inline void set_couplings(const Vector (&u)[size], const Factors& factors, Matrix& own,
                                                 Matrix& after, Matrix& before) {
    const Vector volume = 1.0 / u[flow::density];
    const Vector velocity[3] = {u[flow::momentum_x] * volume, u[flow::momentum_y] * volume,
                                u[flow::momentum_z] * volume};
    const Vector specific_energy = u[flow::energy] * volume;
    Matrix convective;
    set_convective<normal>(velocity, specific_energy, factors.convection, convective);
    set_viscous<normal>(velocity, specific_energy, volume, factors, own);
#pragma GCC unroll 5
    for (int row = 0; row < size; ++row) {
#pragma GCC unroll 5
        for (int column = 0; column < size; ++column) {
            const Vector carried = is_convective(normal, row, column) ? convective.at[row][column] : Vector{};
            const Vector spread = is_viscous(row, column) ? own.at[row][column] : Vector{};
            after.at[row][column] = carried + spread;
            before.at[row][column] = carried - spread;
        }
    }
}

}  // namespace tare::npb::bt::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays)
// NOLINTEND(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-magic-numbers)
