// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/simd.hpp"
#include "npb/flow/physics.hpp"
#include "npb/lu/layout.hpp"

namespace tare::npb::lu {

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

namespace residual {

/// Derived quantities of a point, stored like a field's: three velocities, then these.
constexpr int pressure = 3;
/// What conducts in all directions alike: k1 k5 energy / density + (1 - k1 k5) / 2 speed^2.
constexpr int heat = 4;

/// The planes around a plane. Hot sources hold no standard containers.
// NOLINTBEGIN(*-avoid-c-arrays)
struct Planes {
    /// Of the field: z - 2 .. z + 2.
    const double* field[2 * halo_width + 1];
    /// Of the derived quantities: z - 1 .. z + 1.
    const double* derived[3];
};
// NOLINTEND(*-avoid-c-arrays)

struct Functions {
    /// The derived quantities of a field's plane, as far as the residual of a pencil needs them.
    void (*derive)(const Mesh& mesh, const double* field, double* derived);
    /// A plane of scale * (operator(field) - forcing), in a pencil; `forcing` and `result` are planes of
    /// groups. Unused lanes get 0.
    void (*residual)(const Mesh& mesh, const ResidualFactors& factors, const Planes& planes,
                     const double* forcing, double* result);
};

TARE_NPB_VARIANTS(Functions)

}  // namespace residual

}  // namespace tare::npb::lu
