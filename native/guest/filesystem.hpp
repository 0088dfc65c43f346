// SPDX-License-Identifier: Apache-2.0
// The file systems of a guest: the kernel's own first, then the image under its layer, which becomes `/`.
#pragma once

#include <filesystem>

#include "guest/boot.hpp"

namespace tare::guest {

/// /proc, /sys and /dev of the initramfs.
void mount_kernel_filesystems();

/// The image (read only), the throw-away layer above it, and all that is mounted within; gives where. Waits
/// for the disks. Throws std::runtime_error or std::system_error.
[[nodiscard]] std::filesystem::path mount_root(const Boot& boot);

/// Makes `root` the `/` of this process and of all that it starts.
void switch_root(const std::filesystem::path& root);

}  // namespace tare::guest
