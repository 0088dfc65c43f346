// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "npb/ft/transpose.hpp"

namespace tare::npb::ft {

/// What diffusion multiplies the spectrum with after a time t: exp(-4 alpha pi^2 |k|^2 t), with alpha = 1e-6
/// and each wave number folded to -n/2 .. n/2 - 1 (NAS-95-020, section 2.2.6). It is a product of one factor
/// per dimension, so that there is no table of all points.
class Evolution {
  public:
    Evolution(const Edges& edges, int time);

    [[nodiscard]] std::span<const double> x() const { return x_; }
    [[nodiscard]] double y(int number) const { return y_[static_cast<std::size_t>(number)]; }
    [[nodiscard]] std::span<const double> z() const { return z_; }

  private:
    std::vector<double> x_;
    std::vector<double> y_;
    std::vector<double> z_;
};

}  // namespace tare::npb::ft
