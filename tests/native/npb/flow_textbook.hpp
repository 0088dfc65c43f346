// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "npb/flow/field.hpp"

/// The compressible Navier-Stokes equations as RNR-94-007 section 3.2 writes them, point by point and without
/// regard to speed: what the kernels' own forms are held against.
namespace tare::npb::textbook {

using flow::Point;

/// scale * u + v.
inline Point sum(double scale, const Point& u, const Point& v) {
    Point found = v;
    for (std::size_t component = 0; component < found.size(); ++component) {
        found.at(component) += scale * u.at(component);
    }
    return found;
}

/// What flows along an axis without viscosity (E, F, G).
inline Point flux(std::size_t axis, const Point& u) {
    const double velocity = u.at(1 + axis) / u[0];
    const double kinetic = (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / (2 * u[0]);
    const double pressure = 0.4 * (u[4] - kinetic);
    Point found = sum(velocity, u, {});
    found.at(1 + axis) += pressure;
    found[4] += velocity * pressure;
    return found;
}

/// That whose second difference along an axis viscosity, heat conduction and dissipation are (T, V, W).
inline Point spread(std::size_t axis, const Point& u) {
    constexpr double viscosity = 0.1;
    constexpr double conduction = 1.4 * 1.4;
    constexpr std::array<double, 3> dissipation{0.75, 0.75, 1.0};
    const Point velocity = sum(1 / u[0], u, {});
    Point found = sum(dissipation.at(axis), u, {});
    double square = 0;
    for (std::size_t along = 1; along < 4; ++along) {
        found.at(along) += viscosity * (along == 1 + axis ? 4.0 / 3 : 1.0) * velocity.at(along);
        square += velocity.at(along) * velocity.at(along);
    }
    const double normal = velocity.at(1 + axis);
    found[4] += viscosity * ((1 - conduction) / 2 * square + normal * normal / 6 + conduction * velocity[4]);
    return found;
}

}  // namespace tare::npb::textbook
