// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "npb/cg/updates.hpp"
#include "npb/common/team.hpp"

namespace tare::npb::cg {

/// The vector updates of `updates::Functions`, each thread on its part of the vectors. All vectors of a call
/// have the same length.
class Passes {
  public:
    Passes(Team& team, Simd simd) : team_{&team}, functions_{updates::functions(simd)} {}

    [[nodiscard]] double dot(std::span<const double> left, std::span<const double> right) const;
    [[nodiscard]] double reduce_residual(double alpha, std::span<const double> product,
                                         std::span<double> residual) const;
    void advance(double alpha, double beta, std::span<const double> residual, std::span<double> solution,
                 std::span<double> direction) const;
    void scale(double factor, std::span<const double> from, std::span<double> target) const;
    /// Three dot products of an outer step, in one thread.
    [[nodiscard]] updates::OuterSums outer_sums(std::span<const double> right_side,
                                                std::span<const double> solution,
                                                std::span<const double> product) const;

  private:
    Team* team_;
    updates::Functions functions_;
};

}  // namespace tare::npb::cg
