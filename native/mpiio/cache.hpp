// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tare::mpiio {

/// How much of the file the page cache of this kernel holds (mincore(2)); nothing where that cannot be asked.
[[nodiscard]] std::optional<std::uint64_t> cached_byte(const std::string& path);

/// Asks the kernel to forget the file's pages (posix_fadvise(2)), which it may refuse: `cached_byte` says.
void forget(const std::string& path);

/// The number of the file system that the folder is in (statfs(2)); nothing where that cannot be asked.
[[nodiscard]] std::optional<std::uint64_t> file_system(const std::string& directory);

}  // namespace tare::mpiio
