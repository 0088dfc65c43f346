// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/flow/physics.hpp"

namespace tare::npb::lu {

/// omega of the scheme (RNR-94-007 section 4.3.2).
constexpr double over_relaxation = 1.2;

constexpr double dissipation_sum = flow::dissipation_x + flow::dissipation_y + flow::dissipation_z;
/// Of momentum, summed over the three directions of differencing.
constexpr double viscosity_sum = flow::normal_viscosity + 2;

/// Factors of the residual, which is `scale` times what the equations leave over.
struct ResidualFactors {
    double scale;
    /// Of the central difference of fluxes.
    double convection;
    /// Of the viscous second differences.
    double viscosity;
    /// Of the sum of both neighbours, in x and y, and in z: second and fourth difference together.
    double neighbours_across;
    double neighbours_z;
    /// Of the sum of both neighbours two places away.
    double far_neighbours;
    /// Of the point itself.
    double self;

    [[nodiscard]] static constexpr ResidualFactors of(double spacing, double scale) {
        constexpr double fourth = flow::fourth_dissipation;
        constexpr double fourth_of_self = 3 * 6 * fourth;  // three axes of 1, -4, 6, -4, 1
        const double second = 1.0 / (spacing * spacing);
        return {.scale = scale,
                .convection = -scale / (2 * spacing),
                .viscosity = scale * flow::viscosity * second,
                .neighbours_across = scale * (flow::dissipation_x * second + 4 * fourth),
                .neighbours_z = scale * (flow::dissipation_z * second + 4 * fourth),
                .far_neighbours = -scale * fourth,
                .self = -scale * (2 * dissipation_sum * second + fourth_of_self)};
    }
};

/// Factors of the two sweeps. The diagonal block is diagonal * I + viscous Jacobians.
struct SweepFactors {
    double diagonal;
    double inverse_diagonal;
    /// What the viscous Jacobians of the diagonal block have for velocities, for temperature, and for the
    /// work of viscous forces.
    double shear;
    double conduction;
    double work;
    /// Of a neighbour's convective and diffusive Jacobians.
    double convection;
    double diffusion;
    /// Of a step's change.
    double update;

    [[nodiscard]] static constexpr SweepFactors of(double spacing, double time_step) {
        constexpr double omega = over_relaxation;
        const double second = time_step / (spacing * spacing);
        const double twice = 2 * second;
        const double diagonal = 1 + twice * dissipation_sum;
        return {.diagonal = diagonal,
                .inverse_diagonal = 1 / diagonal,
                .shear = twice * flow::viscosity * viscosity_sum,
                .conduction = twice * flow::viscosity * 3 * flow::conduction,
                .work = twice * flow::viscosity * (viscosity_sum - 3 * flow::conduction),
                .convection = omega * time_step / (2 * spacing),
                .diffusion = omega * second,
                .update = 1 / (omega * (2 - omega))};
    }
};

}  // namespace tare::npb::lu
