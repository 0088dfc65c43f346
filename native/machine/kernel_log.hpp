// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tare::machine {

/// Rate of the time stamp counter, and who says so.
struct TscRate {
    std::uint64_t khz = 0;
    std::string from;
};

/// What a kernel said while it booted. Nothing where it did not, where newer lines pushed it out, or where
/// the log may not be read.
struct KernelLog {
    std::optional<std::string> booted_on;
    std::optional<TscRate> tsc_rate;
};

/// Reads what /dev/kmsg below `root` holds now; records as Documentation/ABI/testing/dev-kmsg has them.
[[nodiscard]] KernelLog read_kernel_log(const std::filesystem::path& root);

/// Takes one record's text in; of several rates the best founded one stays, whatever the order.
void take_line(KernelLog& log, std::string_view line);

}  // namespace tare::machine
