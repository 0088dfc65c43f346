// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/cg/multiply.hpp"
#include "npb/cg/vector_operations.hpp"

namespace tare::npb::cg {

/// What an outer step finds.
struct Estimate {
    /// Of the eigenvalue.
    double zeta = 0;
    /// |x - A z|, how well the inner steps solved.
    double residual = 0;
    /// The same by the inner steps' recurrence. Where they solve as well as rounding errors allow, |x - A z|
    /// stays and this one still falls, in each step by the factor that exact numbers give.
    double recurrence_residual = 0;
    /// Products with the matrix that it took.
    int products = 0;
};

constexpr int inner_steps = 25;

/// Steps of the inverse power method: each solves A z = x by 25 steps of the conjugate gradient method
/// (NAS-95-020, section 2.5); `steps` are others for a test.
class Solver {
  public:
    Solver(Multiply& multiply, const Exchange& exchange, const VectorOperations& vectors,
           const GridShare& share, double shift, int steps = inner_steps);

    /// x is all ones.
    void restart();
    /// One outer step; all ranks get the same estimate.
    [[nodiscard]] Estimate step(PartTimes& times);

  private:
    /// z becomes the solution of A z = x; returns |residual| by the recurrence.
    double solve(PartTimes& times);
    [[nodiscard]] double sum(double number, PartTimes& times) const;
    /// The own piece of the vector that the ranks gather.
    [[nodiscard]] std::span<double> direction() { return gathered_.span().first(x_.size()); }

    Multiply* multiply_;
    const Exchange* exchange_;
    VectorOperations vectors_;
    double shift_;
    int steps_;
    Buffer<double> x_;
    Buffer<double> z_;
    Buffer<double> residual_;
    Buffer<double> product_;
    Buffer<double> gathered_;
};

}  // namespace tare::npb::cg
