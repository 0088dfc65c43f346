// SPDX-License-Identifier: Apache-2.0
// The vector updates and dot products of the conjugate gradient method.
#include "npb/cg/vector_kernels.hpp"

namespace tare::npb::cg::vector_kernels::TARE_NPB_SIMD {

namespace {

// NOLINTBEGIN(cppcoreguidelines-pro-bounds-pointer-arithmetic) several arrays share one index

double dot(std::size_t count, const double* left, const double* right) {
    double sum = 0;
    for (std::size_t index = 0; index < count; ++index) {
        sum += left[index] * right[index];
    }
    return sum;
}

double reduce_residual(std::size_t count, double alpha, const double* __restrict product,
                       double* __restrict residual) {
    double sum = 0;
    for (std::size_t index = 0; index < count; ++index) {
        const double value = residual[index] - alpha * product[index];
        residual[index] = value;
        sum += value * value;
    }
    return sum;
}

void advance(std::size_t count, double alpha, double beta, const double* __restrict residual,
             double* __restrict solution, double* __restrict direction) {
    for (std::size_t index = 0; index < count; ++index) {
        solution[index] += alpha * direction[index];
        direction[index] = residual[index] + beta * direction[index];
    }
}

OuterSums outer_sums(std::size_t count, const double* right_side, const double* solution,
                     const double* product) {
    OuterSums sums;
    for (std::size_t index = 0; index < count; ++index) {
        const double difference = right_side[index] - product[index];
        sums.estimate += right_side[index] * solution[index];
        sums.square += solution[index] * solution[index];
        sums.residual += difference * difference;
    }
    return sums;
}

void scale(std::size_t count, double factor, const double* __restrict from, double* __restrict target) {
    for (std::size_t index = 0; index < count; ++index) {
        target[index] = factor * from[index];
    }
}

// NOLINTEND(cppcoreguidelines-pro-bounds-pointer-arithmetic)

}  // namespace

Functions functions() {
    return {.dot = dot,
            .reduce_residual = reduce_residual,
            .advance = advance,
            .outer_sums = outer_sums,
            .scale = scale};
}

}  // namespace tare::npb::cg::vector_kernels::TARE_NPB_SIMD
