// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/buffer.hpp"
#include "npb/common/simd.hpp"
#include "npb/common/timing.hpp"
#include "npb/lu/exchange.hpp"
#include "npb/lu/field.hpp"
#include "npb/lu/layout.hpp"
#include "npb/lu/part.hpp"
#include "npb/lu/relay.hpp"
#include "npb/lu/residual.hpp"
#include "npb/lu/sweep.hpp"

namespace tare::npb::lu {

enum class Work { residual, lower, upper, exchange, wait };
constexpr std::size_t kinds_of_work = 5;

using Times = Phases<Work, kinds_of_work>;

/// Symmetric successive over-relaxation (RNR-94-007 section 4.3): each step solves, in two sweeps through the
/// grid, (D + L) D^-1 (D + U) change = time_step * residual, where D, L and U hold the Jacobians of the
/// residual at each point and at its neighbours behind and ahead.
///
/// A step walks twice through memory: upwards, where each plane's residual is followed at once by its lower
/// sweep, and downwards, where each plane's upper sweep at once changes the field.
class Ssor {
  public:
    Ssor(const Part& part, double time_step, Simd simd);

    /// Makes the exact solution steady, and leaves it in the field. There is no forcing before.
    void set_forcing();
    void set_field(Point (*value)(double x, double y, double z));
    void step();

    /// The field's residual, until the next step.
    [[nodiscard]] GroupField& residual();

    [[nodiscard]] const Layout& layout() const { return layout_; }
    [[nodiscard]] const Field& field() const { return field_; }
    [[nodiscard]] Times& times() { return times_; }

  private:
    /// From below, `scale` times each plane's residual put into `result`, then `use(z)` called.
    template <typename Use>
    void for_residuals(double scale, GroupField& result, const Use& use);
    [[nodiscard]] residual::Planes planes_around(int z);
    /// Derived quantities of plane z, until those of z + 3 take their room.
    [[nodiscard]] double* derived(int z);
    void derive(int z);
    void lower(int z);
    void upper(int z);

    Part part_;
    Layout layout_;
    residual::Functions residual_;
    sweep::Functions sweep_;
    double time_step_;
    SweepFactors factors_;
    Field field_;
    GroupField forcing_;
    /// The residual, then the solution of the lower sweep.
    GroupField change_;
    GroupField passed_;
    Buffer<double> derived_;
    Buffer<sweep::Wave> wave_;
    Exchange exchange_;
    Relay upwards_;
    Relay downwards_;
    Times times_;
};

}  // namespace tare::npb::lu
