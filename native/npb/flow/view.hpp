// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "npb/flow/physics.hpp"

namespace tare::npb::flow {

/// Rows start at multiples of this many doubles (64 byte), and are stored in whole multiples.
constexpr int row_alignment = 8;
/// Places beyond the block that a field may hold of its neighbours; along x rows always have as many to
/// spare.
constexpr int ghost_layers = 2;

/// Where a field's values lie: x runs fastest, then the component, then y, then z, so that the five rows of a
/// (z, y) are neighbours, each aligned. Every row can be read and written from x = -2 to the next multiple
/// of 8.
template <typename Number>
struct View {
    /// The first component at (0, 0, 0).
    Number* origin;
    /// Doubles from one component, y or z to the next.
    std::ptrdiff_t component;
    std::ptrdiff_t row;
    std::ptrdiff_t plane;

    // NOLINTBEGIN(cppcoreguidelines-pro-bounds-pointer-arithmetic): what a view is for
    /// The row of a component: its [x].
    [[nodiscard, gnu::always_inline]] constexpr Number* at(int z, int y, int m = 0) const {
        return origin + z * plane + y * row + m * component;
    }
    /// The first component at a point.
    [[nodiscard, gnu::always_inline]] constexpr Number* point(int z, int y, int x) const {
        return at(z, y) + x;
    }
    // NOLINTEND(cppcoreguidelines-pro-bounds-pointer-arithmetic)

    // NOLINTNEXTLINE(google-explicit-constructor,hicpp-explicit-conversions): what may change may be read
    [[nodiscard, gnu::always_inline]] constexpr operator View<const Number>() const {
        return {origin, component, row, plane};
    }
};

}  // namespace tare::npb::flow
