// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "npb/common/simd.hpp"

namespace tare::npb::cg::vector_kernels {

/// What an outer step needs of the solution z of A z = x.
struct OuterSums {
    /// x·z
    double estimate = 0;
    /// z·z
    double square = 0;
    /// |x - A z|^2
    double residual = 0;
};

/// Operations on vectors of `count` numbers each, fused where one pass can do the work of two.
struct Functions {
    double (*dot)(std::size_t count, const double* left, const double* right);
    /// residual -= alpha * product; gives residual·residual.
    double (*reduce_residual)(std::size_t count, double alpha, const double* product, double* residual);
    /// solution += alpha * direction; direction = residual + beta * direction.
    void (*advance)(std::size_t count, double alpha, double beta, const double* residual, double* solution,
                    double* direction);
    OuterSums (*outer_sums)(std::size_t count, const double* right_side, const double* solution,
                            const double* product);
    /// target = factor * from
    void (*scale)(std::size_t count, double factor, const double* from, double* target);
};

TARE_NPB_VARIANTS(Functions)

}  // namespace tare::npb::cg::vector_kernels
