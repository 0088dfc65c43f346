// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/field.hpp"

#include <algorithm>

namespace tare::npb::mg {

namespace {

std::ptrdiff_t stride_of(int edge) { return static_cast<std::ptrdiff_t>(edge) * row_length(edge); }

}  // namespace

Field::Field(int edge, int planes, Depth depth)
    : planes_{planes},
      depth_{depth},
      values_{static_cast<std::size_t>(stride_of(edge) * (depth.below + planes + depth.above))},
      grid_{
          Grid{.origin = values_.data(), .edge = edge, .length = row_length(edge), .stride = stride_of(edge)}
              .from(depth.below)} {}

void Field::set_zero(Team& team) {
    team.run([&](int thread) {
        const Share<std::ptrdiff_t> part = team.part(thread, grid_.stride);
        for (int plane = -depth_.below; plane < planes_ + depth_.above; ++plane) {
            std::fill_n(std::next(grid_.row(plane, 0), part.first), part.count, 0.0);
        }
    });
}

}  // namespace tare::npb::mg
