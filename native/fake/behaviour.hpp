// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fake/options.hpp"

namespace tare::fake {

/// The value with its slowdown, times noise exp(s z) with z standard normal and s = sqrt(ln(1 + CV²)):
/// lognormal with that coefficient of variation and median 1 (Johnson, Kotz, Balakrishnan, Continuous
/// Univariate Distributions vol. 1, ch. 14).
[[nodiscard]] double drawn_value(const Options& options);

/// One place on the curve: how long a message of that size takes.
struct Point {
    std::uint64_t size_byte;
    double time_s;
};

/// A message's time over its size, 1, 2, 3, 4, 6, 8, 12 ... bytes: value (1 + size / 4096), slowed down like
/// the value itself, each with noise of its own.
[[nodiscard]] std::vector<Point> drawn_curve(const Options& options);

/// What a workload that behaves prints.
[[nodiscard]] std::string regular_output(double value, const std::vector<Point>& curve = {});

/// Acts the behaviour out; returns the exit code of those that end.
[[nodiscard]] int act(const Options& options);

}  // namespace tare::fake
