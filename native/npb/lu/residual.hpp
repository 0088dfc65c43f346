// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/simd.hpp"
#include "npb/lu/layout.hpp"
#include "npb/lu/scheme.hpp"

namespace tare::npb::lu::residual {

/// Derived quantities of a point, stored like a field's: three velocities, then these.
constexpr int pressure = 3;
/// What conducts in all directions alike: k1 k5 energy / density + (1 - k1 k5) / 2 speed^2.
constexpr int heat = 4;

/// The planes around a plane. Hot sources hold no standard containers.
// NOLINTBEGIN(*-avoid-c-arrays)
struct Planes {
    /// Of the field: z - 2 .. z + 2.
    const double* field[2 * reach + 1];
    /// Of the derived quantities: z - 1 .. z + 1.
    const double* derived[3];
};
// NOLINTEND(*-avoid-c-arrays)

struct Functions {
    /// The derived quantities of a field's plane, as far as the residual of a strip needs them.
    void (*derive)(const Mesh& mesh, const double* field, double* derived);
    /// A plane of scale * (operator(field) - forcing), in a strip; `forcing` and `result` are planes of
    /// groups. Unused places get 0.
    void (*residual)(const Mesh& mesh, const ResidualFactors& factors, const Planes& planes,
                     const double* forcing, double* result);
};

TARE_NPB_VARIANTS(Functions)

}  // namespace tare::npb::lu::residual
