// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "npb/flow/lanes.hpp"
#include "npb/flow/physics.hpp"
#include "npb/lu/layout.hpp"
#include "npb/lu/sweep.hpp"

// For hot sources only, see flow/lanes.hpp: points of a diagonal in vectors, and what their 5x5 blocks do to
// a change of the conserved quantities.
//
// The blocks are Jacobians of fluxes (RNR-94-007 section 4.3.1) and are never formed. A change is written in
// changes of density, velocities and specific energy (energy / density). In these the diagonal block, which
// has viscous Jacobians alone, is a lower triangle, and the Jacobians of all three directions share most of
// their products.
// Hot sources hold no standard containers.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
namespace tare::npb::lu::TARE_NPB_SIMD {

using flow::TARE_NPB_SIMD::lanes;
using flow::TARE_NPB_SIMD::load;
using flow::TARE_NPB_SIMD::load_unaligned;
using flow::TARE_NPB_SIMD::store;
using flow::TARE_NPB_SIMD::Vector;

/// `value` in the first `count` lanes, `other` in the rest.
[[nodiscard, gnu::always_inline]] inline Vector first_lanes(int count, const Vector& value,
                                                            const Vector& other) {
    Vector number{};
    for (int lane = 0; lane < lanes; ++lane) {
        number[lane] = lane;
    }
    return number < static_cast<double>(count) ? value : other;
}

/// Where a diagonal's point is in its groups.
[[nodiscard, gnu::always_inline]] constexpr std::ptrdiff_t group_offset(std::ptrdiff_t along) {
    return along / group * group * quantities + along % group;
}

/// The state that the Jacobians are taken at.
struct State {
    Vector density;
    Vector momentum[3];
    Vector energy;
    Vector inverse_density;
    Vector velocity[3];
    Vector specific_energy;
    /// 1 / (diagonal * density + shear), and the same with conduction.
    Vector inverse_shear;
    Vector inverse_conduction;
};

/// A change of the state.
struct Change {
    Vector density;
    Vector velocity[3];
    Vector specific_energy;
};

[[nodiscard, gnu::always_inline]] inline State state_at(const double* field, std::ptrdiff_t pitch,
                                                        const SweepFactors& factors) {
    State state;
    state.density = load(field);
    const Vector shear = factors.diagonal * state.density + factors.shear;
    const Vector conduction = factors.diagonal * state.density + factors.conduction;
    // One division for three.
    const Vector both = shear * conduction;
    const Vector inverse = 1.0 / (state.density * both);
    state.inverse_density = inverse * both;
    state.inverse_shear = inverse * state.density * conduction;
    state.inverse_conduction = inverse * state.density * shear;
    for (int axis = 0; axis < 3; ++axis) {
        state.momentum[axis] = load(field + (axis + 1) * pitch);
        state.velocity[axis] = state.momentum[axis] * state.inverse_density;
    }
    state.energy = load(field + flow::energy * pitch);
    state.specific_energy = state.energy * state.inverse_density;
    return state;
}

[[nodiscard, gnu::always_inline]] inline Vector dot(const Vector (&left)[3], const Vector (&right)[3]) {
    return left[0] * right[0] + left[1] * right[1] + left[2] * right[2];
}

/// Solves the diagonal block's system for a right side in conserved quantities.
[[nodiscard, gnu::always_inline]] inline Change solved(const State& state, const SweepFactors& factors,
                                                       const Vector (&right)[quantities]) {
    Change change;
    change.density = factors.inverse_diagonal * right[0];
    for (int axis = 0; axis < 3; ++axis) {
        change.velocity[axis] = (right[axis + 1] - state.velocity[axis] * right[0]) * state.inverse_shear;
    }
    const Vector work = factors.work * dot(state.velocity, change.velocity);
    change.specific_energy =
        (right[flow::energy] - state.specific_energy * right[0] - work) * state.inverse_conduction;
    return change;
}

[[gnu::always_inline]] inline void to_conserved(const State& state, const Change& change,
                                                Vector (&conserved)[quantities]) {
    conserved[0] = change.density;
    for (int axis = 0; axis < 3; ++axis) {
        conserved[axis + 1] = state.velocity[axis] * change.density + state.density * change.velocity[axis];
    }
    conserved[flow::energy] = state.specific_energy * change.density + state.density * change.specific_energy;
}

/// What the Jacobians of all three directions share, with their factors.
struct Effect {
    Vector conserved[quantities];
    // Times the factor of convection:
    Vector velocity[3];
    Vector momentum[3];
    Vector enthalpy;
    Vector pressure_change;
    Vector enthalpy_change;
    // Times the factor of diffusion and the viscosity:
    Vector shear[3];
    Vector heat;
};

[[nodiscard, gnu::always_inline]] inline Effect effect_of(const State& state, const Change& change,
                                                          double convection, double diffusion) {
    Effect effect;
    to_conserved(state, change, effect.conserved);
    const Vector work = dot(state.velocity, change.velocity);
    const Vector thermal = state.specific_energy - dot(state.velocity, state.velocity) / 2;
    const Vector pressure_change =
        flow::pressure_factor * (thermal * change.density + state.density * (change.specific_energy - work));
    effect.pressure_change = convection * pressure_change;
    effect.enthalpy_change = convection * (effect.conserved[flow::energy] + pressure_change);
    effect.enthalpy = convection * (state.energy + flow::pressure_factor * state.density * thermal);
    const double viscosity = diffusion * flow::viscosity;
    for (int axis = 0; axis < 3; ++axis) {
        effect.velocity[axis] = convection * state.velocity[axis];
        effect.momentum[axis] = convection * state.momentum[axis];
        effect.shear[axis] = viscosity * change.velocity[axis];
    }
    effect.heat = viscosity * (flow::conduction * change.specific_energy + (1 - flow::conduction) * work);
    return effect;
}

/// The neighbour's block along an axis times the change, less its sign: `convection` is positive towards
/// growing coordinates.
template <int axis>
[[gnu::always_inline]] inline void pass_on(const State& state, const Change& change, const Effect& effect,
                                           double convection, double diffusion,
                                           Vector (&passed)[quantities]) {
    constexpr double dissipation = axis == 2 ? flow::dissipation_z : flow::dissipation_x;
    constexpr double extra = flow::normal_viscosity - 1;
    const Vector momentum = effect.conserved[axis + 1];
    for (int m = 0; m < quantities; ++m) {
        passed[m] = dissipation * diffusion * effect.conserved[m];
    }
    passed[0] += convection * momentum;
    for (int other = 0; other < 3; ++other) {
        passed[other + 1] += effect.velocity[other] * momentum +
                             effect.momentum[axis] * change.velocity[other] + effect.shear[other];
    }
    passed[axis + 1] += effect.pressure_change + extra * effect.shear[axis];
    passed[flow::energy] += effect.enthalpy_change * state.velocity[axis] +
                            effect.enthalpy * change.velocity[axis] + effect.heat +
                            extra * state.velocity[axis] * effect.shear[axis];
}

}  // namespace tare::npb::lu::TARE_NPB_SIMD
// NOLINTEND(cppcoreguidelines-pro-bounds-*,cppcoreguidelines-pro-type-member-init,*-avoid-c-arrays)
