// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "npb/common/buffer.hpp"
#include "npb/common/share.hpp"
#include "npb/common/team.hpp"
#include "npb/flow/exact.hpp"
#include "npb/lu/layout.hpp"
#include "npb/lu/part.hpp"

namespace tare::npb::lu {

using flow::Point;

/// The conserved quantities at a block's points and two layers around it. Unused places hold 1, so that no
/// lane of a vector divides by zero.
class Field {
  public:
    Field(const Part& part, const Layout& layout);

    /// Quantity by quantity, `Layout::pitch` apart; -2 <= z < count + 2.
    [[nodiscard]] double* plane(int z) { return &values_.span()[offset(z)]; }
    [[nodiscard]] const double* plane(int z) const { return &values_.span()[offset(z)]; }

    [[nodiscard]] Point point(int x, int y, int z) const;

    /// Sets each point of the cube that the block or its layers hold to `value(x, y, z)`, at coordinates from
    /// 0 to 1. The threads share the planes.
    void set(Point (*value)(double x, double y, double z), Team& team);

  private:
    [[nodiscard]] std::size_t offset(int z) const {
        return static_cast<std::size_t>(z + reach) * quantities * static_cast<std::size_t>(layout_.pitch());
    }

    /// Of the block's places and those of its layers, such that lie in the cube.
    [[nodiscard]] Share<int> in_cube(const Extent& extent) const;
    void set_plane(Point (*value)(double x, double y, double z), int z);

    Part part_;
    const Layout& layout_;
    Buffer<double> values_;
};

/// Planes of groups (see `Layout`), zero at first.
class GroupField {
  public:
    GroupField(const Layout& layout, int planes)
        : plane_{static_cast<std::size_t>(layout.group_plane())},
          values_{plane_ * static_cast<std::size_t>(planes)} {}

    [[nodiscard]] std::span<double> plane(int z) {
        return values_.span().subspan(static_cast<std::size_t>(z) * plane_, plane_);
    }

  private:
    std::size_t plane_;
    Buffer<double> values_;
};

/// The start of the iteration: boundary from the exact solution, inside interpolated between it.
[[nodiscard]] Point initial(double x, double y, double z);

}  // namespace tare::npb::lu
