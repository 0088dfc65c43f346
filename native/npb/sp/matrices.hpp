// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "npb/flow/block.hpp"
#include "npb/sp/sweeps.hpp"

namespace tare::npb::sp {

/// What a time step's matrices are made of, on a rank's block: a `Scheme` with the memory that it points to.
class Matrices {
  public:
    Matrices(const flow::Block& block, double time_step);
    Matrices(const Matrices&) = delete;
    Matrices& operator=(const Matrices&) = delete;
    Matrices(Matrices&&) = default;
    Matrices& operator=(Matrices&&) = default;
    ~Matrices() = default;

    [[nodiscard]] const Scheme& scheme() const { return scheme_; }

  private:
    std::vector<flow::FourthDifference> weights_x_;
    std::vector<flow::FourthDifference> weights_y_;
    std::vector<flow::FourthDifference> weights_z_;
    Scheme scheme_;
};

}  // namespace tare::npb::sp
