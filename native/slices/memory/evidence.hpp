// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>

namespace tare::slices {

/// A piece of this process's address space.
struct Region {
    std::uint64_t begin = 0;
    std::uint64_t size_byte = 0;
};

/// Bytes of the regions in transparent huge pages: `AnonHugePages` of their mappings in the text of
/// /proc/PID/smaps (Linux, Documentation/filesystems/proc.rst). Nothing where no mapping of them says so.
[[nodiscard]] std::optional<std::uint64_t> huge_page_byte(std::string_view smaps,
                                                          std::span<const Region> regions);

/// NUMA node -> bytes of the regions' mappings there, of the text of /proc/PID/numa_maps (numa(7)).
[[nodiscard]] std::map<int, std::uint64_t> node_byte(std::string_view numa_maps,
                                                     std::span<const Region> regions);

}  // namespace tare::slices
