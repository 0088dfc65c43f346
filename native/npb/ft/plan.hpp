// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "npb/common/buffer.hpp"
#include "npb/ft/pencils.hpp"

namespace tare::npb::ft {

/// exp(-2 pi i index / length).
[[nodiscard]] std::complex<double> root_of_unity(std::int64_t index, std::int64_t length);

/// The addresses of blocks side by side.
[[nodiscard]] std::vector<double*> blocks_from(double* place, int count);

/// The shortest and the longest line that the passes can do: 4^1 and 8^5.
constexpr int shortest_line = 4;
constexpr int longest_line = 8192;
/// A row is a line of blocks, and these are transformed in eights.
constexpr int shortest_row = 64;
/// A column is a line in each of eight xy tiles.
constexpr int shortest_column = 32;

/// The tables for transforms of one length, a power of two from 4 to 8192.
class LinePlan {
  public:
    explicit LinePlan(int length);

    [[nodiscard]] const Line& line() const { return line_; }

  private:
    std::vector<std::vector<double>> twiddles_;
    std::vector<std::ptrdiff_t> positions_;
    Line line_;
};

/// The tables for rows of `length` points, a power of two from 64 on: lines of length / 8, and their lanes.
class RowPlan {
  public:
    explicit RowPlan(int length);

    [[nodiscard]] const Line& line() const { return lane_plan_.line(); }
    [[nodiscard]] const double* lane_twiddle() const { return lane_twiddle_.data(); }

  private:
    LinePlan lane_plan_;
    Buffer<double> lane_twiddle_;
};

}  // namespace tare::npb::ft
