// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "hpl/blas.hpp"
#include "hpl/matrix.hpp"

namespace tare::hpl {

/// HPL's limit of the scaled residual.
constexpr double residual_limit = 16.0;
/// ε, half the distance from 1 to the next number.
constexpr double epsilon = 0x1p-53;

/// HPL's test of a solution, in all processes: ‖A x - b‖ / (ε (‖A‖ ‖x‖ + ‖b‖) N) in the maximum norm, ε =
/// 2⁻⁵³. A and b are made anew, in the matrix's place. `solution` is of this process's columns.
[[nodiscard]] double scaled_residual(std::span<const double> solution, Matrix& matrix, const Grid& grid,
                                     const npb::World& world, const Blas& blas);

}  // namespace tare::hpl
