// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fake/options.hpp"

namespace tare::fake {

/// The value with its slowdown, times noise exp(s z) with z standard normal and s = sqrt(ln(1 + CV²)):
/// lognormal with that coefficient of variation and median 1 (Johnson, Kotz, Balakrishnan, Continuous
/// Univariate Distributions vol. 1, ch. 14).
[[nodiscard]] double drawn_value(const Options& options);

/// What a workload that behaves prints.
[[nodiscard]] std::string regular_output(double value);

/// Acts the behaviour out; returns the exit code of those that end.
[[nodiscard]] int act(const Options& options);

}  // namespace tare::fake
