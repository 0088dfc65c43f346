// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/blas.hpp"
#include "hpl/matrix.hpp"

namespace tare::hpl {

/// Solves U x = b after `factor`: x of this process's columns of A, the same in all rows of the grid.
[[nodiscard]] std::vector<double> solve(const Problem& problem, Matrix& matrix, const Grid& grid,
                                        const Blas& blas);

}  // namespace tare::hpl
