// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "npb/cg/vector_kernels.hpp"
#include "npb/common/team.hpp"

namespace tare::npb::cg {

/// The vector updates of `vector_kernels::Functions`, each thread on its part of the vectors. All vectors of
/// a call have the same length.
class VectorOperations {
  public:
    VectorOperations(Team& team, Simd simd) : team_{&team}, functions_{vector_kernels::functions(simd)} {}

    [[nodiscard]] double dot(std::span<const double> left, std::span<const double> right) const;
    [[nodiscard]] double reduce_residual(double alpha, std::span<const double> product,
                                         std::span<double> residual) const;
    void advance(double alpha, double beta, std::span<const double> residual, std::span<double> solution,
                 std::span<double> direction) const;
    void scale(double factor, std::span<const double> from, std::span<double> target) const;
    /// Three dot products of an outer step, in one thread.
    [[nodiscard]] vector_kernels::OuterSums outer_sums(std::span<const double> right_side,
                                                       std::span<const double> solution,
                                                       std::span<const double> product) const;

  private:
    Team* team_;
    vector_kernels::Functions functions_;
};

}  // namespace tare::npb::cg
