// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/simd.hpp"
#include "npb/lu/layout.hpp"
#include "npb/lu/scheme.hpp"

namespace tare::npb::lu::sweep {

/// The longest diagonal that there is room for; class E has 1018.
constexpr int longest_diagonal = 1024;

/// What the points of a diagonal pass on to those of the next: to the x neighbours and to the y neighbours.
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

/// Waves of a strip.
struct Waves {
    /// Two, for its diagonals by turns.
    Wave* own;
    /// Of the diagonal that the sweep came to before the strip, and room for that of the strip's last one,
    /// for the next strip; null where there is no such strip.
    const Wave* received;
    Wave* to_hand_on;
};

/// What a plane passes on to the next block in x and in y, quantity by quantity: [m * y_count + y] and
/// [m * x_count + x]. Null where nobody asks.
struct Outflow {
    double* x;
    double* y;
};

/// A strip of a plane of a sweep, in the order of the wave. `passed` is a plane of groups: what the plane
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

}  // namespace tare::npb::lu::sweep
