// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/flow/physics.hpp"

// The Jacobian of the convection along an axis is T diag(v, v, v, v + c, v - c) T^-1: v is the velocity along
// the axis, c the speed of sound (Pulliam and Chaussee 1981; RNR-94-007 section 3.3.3). Fields are multiplied
// by the inverse of one T and by the next. Always inline, so that hot sources may use them; `Number` is a
// double, or a vector of them with a point in each.
// Plain arrays, of which the compiler makes registers.
// NOLINTBEGIN(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays)
namespace tare::npb::sp {

constexpr double half_root = 0.70710678118654752440;

/// Fluid at a point.
template <typename Number>
struct Fluid {
    Number density;
    Number velocity_x;
    Number velocity_y;
    Number velocity_z;
    /// Kinetic energy per mass.
    Number kinetic;
    Number sound;
};

/// Five values of a point: of the conserved quantities, or the strengths of five waves.
template <typename Number>
struct Five {
    Number at[flow::components];
};

/// T_x^-1: conserved quantities to waves along x. 1 / density and 1 / sound^2 come from the caller, who has
/// them without a further division.
template <typename Number>
[[gnu::always_inline]] inline Five<Number> to_waves_x(const Fluid<Number>& fluid, const Number& volume,
                                                      const Number& inverse_square_sound,
                                                      const Five<Number>& field) {
    const auto& [mass, along_x, along_y, along_z, energy] = field.at;
    const Number pressure = flow::pressure_factor * inverse_square_sound *
                            (fluid.kinetic * mass - fluid.velocity_x * along_x - fluid.velocity_y * along_y -
                             fluid.velocity_z * along_z + energy);
    const Number scaled = half_root * volume;
    const Number even = scaled * fluid.sound * pressure;
    const Number odd = scaled * (fluid.velocity_x * mass - along_x);
    return {{mass - pressure, volume * (along_z - fluid.velocity_z * mass),
             volume * (fluid.velocity_y * mass - along_y), even - odd, even + odd}};
}

/// T_y^-1 T_x: waves along x to waves along y. The same everywhere.
template <typename Number>
[[gnu::always_inline]] inline Five<Number> x_to_y(const Five<Number>& wave) {
    const auto& [first, second, third, fast, slow] = wave.at;
    const Number even = 0.5 * (fast + slow);
    const Number odd = half_root * third;
    return {{-second, first, half_root * (fast - slow), even - odd, even + odd}};
}

/// T_z^-1 T_y: waves along y to waves along z. The same everywhere.
template <typename Number>
[[gnu::always_inline]] inline Five<Number> y_to_z(const Five<Number>& wave) {
    const auto& [first, second, third, fast, slow] = wave.at;
    const Number even = 0.5 * (fast + slow);
    const Number odd = half_root * first;
    return {{half_root * (fast - slow), -third, second, even - odd, even + odd}};
}

/// T_z: waves along z to conserved quantities. `inverse_sound` is 1 / sound.
template <typename Number>
[[gnu::always_inline]] inline Five<Number> from_waves_z(const Fluid<Number>& fluid,
                                                        const Number& inverse_sound,
                                                        const Five<Number>& wave) {
    const auto& [first, second, third, fast, slow] = wave.at;
    const Number scaled = half_root * fluid.density;
    const Number even = scaled * (fast + slow);
    const Number odd = scaled * (fast - slow);
    const Number mass = third + even * inverse_sound;
    return {{mass, fluid.velocity_x * mass - fluid.density * second,
             fluid.velocity_y * mass + fluid.density * first, fluid.velocity_z * mass + odd,
             fluid.density * (fluid.velocity_y * first - fluid.velocity_x * second) + fluid.kinetic * mass +
                 even * fluid.sound * (1.0 / flow::pressure_factor) + fluid.velocity_z * odd}};
}

}  // namespace tare::npb::sp
// NOLINTEND(cppcoreguidelines-pro-bounds-*,*-avoid-c-arrays)
