// SPDX-License-Identifier: Apache-2.0
// A machine's devices and their drivers as /sys below `root` shows them (sysfs(5)). Nothing where there is no
// /sys; empty where there is one without such devices.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "common/json.hpp"

namespace tare::machine {

using Devices = std::optional<std::vector<JsonObject>>;

/// {name, drivers, buses}: of the device and of what carries it, from itself up to the root. A virtio disk
/// has the drivers virtio_blk and virtio-pci, an IDE disk sd and ata_piix; `lo` and `loop0` have none.
[[nodiscard]] Devices block_devices(const std::filesystem::path& root);
[[nodiscard]] Devices network_interfaces(const std::filesystem::path& root);

/// {name, id, driver}: id as in the virtio standard, chapter 5.
[[nodiscard]] Devices virtio_devices(const std::filesystem::path& root);

/// {address, id, driver}: id as vendor:device in hexadecimal.
[[nodiscard]] Devices pci_devices(const std::filesystem::path& root);

}  // namespace tare::machine
