// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npb/common/simd.hpp"
#include "npb/common/team.hpp"
#include "npb/flow/field.hpp"
#include "npb/flow/right_hand_side.hpp"

namespace tare::npb::flow {

/// Rows of y that are prepared together: few, so that threads can share a plane, yet so many that what begins
/// anew with each group costs little. The same always, so that no digit depends on the number of threads.
constexpr int group_rows = 8;

/// Of how many groups the rows inside the boundary of y are.
[[nodiscard]] int groups_of(const Extent& y);

/// The rows of some groups of a plane.
[[nodiscard]] Rows rows_of(const Extent& y, int z, const Share<int>& groups);

/// The right-hand side of a plane's groups, and of the whole block.
class RightHandSide {
  public:
    RightHandSide(const Functions& functions, double scale, const Field& u, const Field& forcing,
                  Field& result)
        : functions_{functions}, scale_{scale}, u_{&u}, forcing_{&forcing}, result_{&result} {}

    void set(int z, const Share<int>& groups) const;
    /// Everywhere inside the boundary; the threads share the planes.
    void set(Team& team) const;

  private:
    Functions functions_;
    double scale_;
    const Field* u_;
    const Field* forcing_;
    Field* result_;
};

}  // namespace tare::npb::flow
