// SPDX-License-Identifier: Apache-2.0
// What a kernel tells of itself under /proc and /sys, which lie below `root`. Whatever is missing is nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tare::machine {

[[nodiscard]] std::optional<std::string> kernel_release(const std::filesystem::path& root);
[[nodiscard]] std::optional<std::string> command_line(const std::filesystem::path& root);

/// The clock source in use, and all that the kernel could use
/// (Documentation/ABI/testing/sysfs-devices-system-clocksource).
[[nodiscard]] std::optional<std::string> clock_source(const std::filesystem::path& root);
[[nodiscard]] std::optional<std::vector<std::string>> clock_sources(const std::filesystem::path& root);

[[nodiscard]] std::optional<std::size_t> online_processors(const std::filesystem::path& root);

/// MemTotal of /proc/meminfo: the memory less what the kernel itself takes at boot.
[[nodiscard]] std::optional<std::uint64_t> memory_byte(const std::filesystem::path& root);

/// The eighth figure of the line `cpu` in /proc/stat (proc(5)). 0 also where nothing can be counted: only the
/// feature "steal_time" of the hypervisor, or its like, tells the two apart.
[[nodiscard]] std::optional<std::uint64_t> steal_tick(const std::filesystem::path& root);

/// Names of the loaded modules, in the kernel's order; nothing where the kernel takes no modules.
[[nodiscard]] std::optional<std::vector<std::string>> modules(const std::filesystem::path& root);

/// What stands between blanks.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

}  // namespace tare::machine
