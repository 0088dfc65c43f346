// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/simd.hpp"
#include "npb/lu/layout.hpp"
#include "npb/lu/residual.hpp"

namespace tare::npb::lu {

/// omega of the scheme (RNR-94-007 section 4.3.2).
constexpr double over_relaxation = 1.2;

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

namespace sweep {

/// The longest diagonal that there is room for; class E has 1018.
constexpr int longest_diagonal = 1024;

/// What the points of a diagonal pass on to the next diagonal's: to the x neighbours and to the y neighbours.
/// The front and the end are where a block's neighbours would be: zero.
struct Wave {
    static constexpr std::ptrdiff_t front = group;
    /// Rows begin on different lines of a cache.
    static constexpr std::ptrdiff_t pitch = front + longest_diagonal + 8 * group;

    // Hot sources hold no standard containers.
    // NOLINTBEGIN(*-avoid-c-arrays)
    alignas(sizeof(double) * group) double to_x[quantities][pitch];
    alignas(sizeof(double) * group) double to_y[quantities][pitch];
    // NOLINTEND(*-avoid-c-arrays)
};

/// Waves of a pencil.
struct Waves {
    /// Two, for its diagonals alternately.
    Wave* own;
    /// Of the diagonal that the sweep came to before the pencil, and room for that of the pencil's
    /// last one, for the next pencil; null where there is no such pencil.
    const Wave* received;
    Wave* to_send;
};

/// What a plane passes on to the next block in x and in y, quantity by quantity: [m * y_count + y] and
/// [m * x_count + x]. Null where nobody asks.
struct Outflow {
    double* x;
    double* y;
};

/// A pencil of a plane of a sweep, in the order of the wave. `passed` is a plane of groups: what the plane
/// before, and in the points at the edges also the blocks before, passed on to each point; then what this
/// plane passes on to the next one.
struct Functions {
    /// The lower triangle, towards growing x, y, z: (D + L) v = time_step * residual. `change` is a plane of
    /// groups: first the right side, then v, as changes of density, velocities and energy / density.
    void (*lower)(const Mesh& mesh, const SweepFactors& factors, const double* field, double* change,
                  double* passed, const Waves& waves, const Outflow& outflow);
    /// The upper triangle, towards falling x, y, z: (D + U) du = D v, from `change` as `lower` left it; adds
    /// the step's change to the field.
    void (*upper)(const Mesh& mesh, const SweepFactors& factors, double* field, const double* change,
                  double* passed, const Waves& waves, const Outflow& outflow);
};

TARE_NPB_VARIANTS(Functions)

}  // namespace sweep

}  // namespace tare::npb::lu
