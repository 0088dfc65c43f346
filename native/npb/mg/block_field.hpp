// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "npb/common/buffer.hpp"
#include "npb/common/team.hpp"
#include "npb/mg/block.hpp"
#include "npb/mg/rows.hpp"

namespace tare::npb::mg {

/// A block's values with the ghosts around them: copies of one point of each neighbour, also across edges and
/// corners.
class BlockField {
  public:
    explicit BlockField(const Block& block)
        : block_{block},
          stride_{row_stride(block.count(x_axis))},
          values_{static_cast<std::size_t>(stride_ * with_ghosts(y_axis) * with_ghosts(z_axis))} {}

    [[nodiscard]] const Block& block() const { return block_; }
    /// The row's first own point; planes and rows count from -1, the ghosts, to one after the block's last.
    [[nodiscard]] double* row(int plane, int row) {
        const std::ptrdiff_t rows_before = (plane + 1) * with_ghosts(y_axis) + row + 1;
        return std::next(values_.data(), rows_before * stride_ + x_offset);
    }
    /// The first time, memory comes to lie near the threads that share the work.
    void set_zero(Team& team) {
        team.run([&](int thread) {
            const auto part = team.part(thread, with_ghosts(z_axis));
            const std::ptrdiff_t plane_size = stride_ * with_ghosts(y_axis);
            std::fill_n(std::next(values_.data(), part.first * plane_size), part.count * plane_size, 0.0);
        });
    }

  private:
    /// Puts the first own point of each row at the start of a cache line.
    static constexpr std::ptrdiff_t x_offset = buffer_alignment_byte / sizeof(double);

    [[nodiscard]] static std::ptrdiff_t row_stride(int points) {
        const std::ptrdiff_t lines = (points + x_offset) / x_offset;
        return x_offset + lines * x_offset;
    }
    [[nodiscard]] std::ptrdiff_t with_ghosts(Axis axis) const { return block_.count(axis) + 2; }

    Block block_;
    std::ptrdiff_t stride_;
    Buffer<double> values_;
};

}  // namespace tare::npb::mg
