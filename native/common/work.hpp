// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tare {

/// What two chains of dependent operations come to.
struct Work {
    std::uint64_t state;
    double sum;
};

/// Two chains, integer and floating, each about four cycles long per iteration; neither can be shortened
/// by a vector unit or a compiler, and nothing leaves the registers. The same for the same count, always.
[[nodiscard]] Work do_work(std::uint64_t iterations);

}  // namespace tare
