// SPDX-License-Identifier: Apache-2.0
#include "npb/mg/field.hpp"

#include <algorithm>

namespace tare::npb::mg {

namespace {

/// Points in a cache line: each row's first own point lies at the start of one.
constexpr int line_points = buffer_alignment_byte / sizeof(double);

int whole_lines(int points) { return (points + line_points - 1) / line_points * line_points; }

/// All but the origin.
Grid shape(const Block& block, const Halo& halo) {
    const int points = block.count(x_axis);
    const int rows = block.count(y_axis);
    if (halo.beside == 0) {
        const int length = row_length(points);
        return {.points = length,
                .row_mask = rows - 1,
                .row_stride = length,
                .plane_stride = static_cast<std::ptrdiff_t>(rows) * length};
    }
    const int length = line_points + whole_lines(points + halo.beside);
    return {.points = points,
            .row_stride = length,
            .plane_stride = static_cast<std::ptrdiff_t>(rows + 2 * halo.beside) * length};
}

}  // namespace

Field::Field(const Block& block, const Halo& halo)
    : block_{block},
      halo_{halo},
      grid_{shape(block, halo)},
      values_{static_cast<std::size_t>(grid_.plane_stride * (halo.below + planes() + halo.above))} {
    const std::ptrdiff_t before = halo.beside == 0 ? 0 : halo.beside * grid_.row_stride + line_points;
    grid_.origin = std::next(values_.data(), halo.below * grid_.plane_stride + before);
}

void Field::set_zero(Team& team) {
    team.run([&](int thread) {
        const Share<std::ptrdiff_t> part = team.part(thread, grid_.plane_stride);
        for (int plane = 0; plane < halo_.below + planes() + halo_.above; ++plane) {
            std::fill_n(std::next(values_.data(), plane * grid_.plane_stride + part.first), part.count, 0.0);
        }
    });
}

}  // namespace tare::npb::mg
