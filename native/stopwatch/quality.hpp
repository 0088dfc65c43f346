// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tare::stopwatch {

/// Those flags of the first processor in the text of /proc/cpuinfo that tell of its time stamp counter (the
/// kernel's arch/x86/include/asm/cpufeatures.h); nothing when the text lists no flags at all.
[[nodiscard]] std::optional<std::vector<std::string>> counter_flags(std::string_view cpuinfo);

/// What the clocks of the node are and how they behave, as one JSON object: clock source, flags of the time
/// stamp counter, resolution and steps of each clock, and whether processors agree. Takes 0.3 s at most.
[[nodiscard]] std::string clock_quality();

}  // namespace tare::stopwatch
