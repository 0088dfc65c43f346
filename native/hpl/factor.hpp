// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/blas.hpp"
#include "hpl/matrix.hpp"

namespace tare::hpl {

/// Makes A upper triangular and b what belongs to it, by LU with partial pivoting, right-looking. The next
/// panel is factored before the rest of an update (look-ahead of 1), so that the others wait for it less.
void factor(const Problem& problem, Matrix& matrix, const Grid& grid, const Blas& blas);

}  // namespace tare::hpl
