// SPDX-License-Identifier: Apache-2.0
// What a guest is to become: the settings that the host put into its initramfs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tare::guest {

/// A port of a virtio console, found by the name that the host gave it.
struct VirtioPort {
    std::string name;
};

struct SerialDevice {
    std::string path;
};

using Channel = std::variant<VirtioPort, SerialDevice>;

/// A file system on a block device.
struct Disk {
    std::string device;
    std::string type;
};

/// A file system in memory.
struct Memory {
    std::uint64_t size_byte = 0;
};

using Layer = std::variant<Memory, Disk>;

struct Address {
    std::string number;  ///< IPv4, dotted.
    unsigned prefix_bits = 0;
};

/// A directory of the host.
struct Bind {
    std::string type;  ///< 9p or virtiofs.
    std::string tag;
    std::string target;
    bool writable = false;
};

struct Boot {
    Channel channel;
    std::vector<std::string> modules;  ///< Files, in the order of loading.
    Disk root;                         ///< The image; read only.
    Layer layer;                       ///< What is written, above the image.
    std::uint64_t shm_byte = 0;
    std::string name;
    std::optional<Address> address;
    std::optional<std::string> gateway;
    std::vector<Bind> binds;
    std::string work;  ///< The work directory; empty: none.
};

/// The settings of /boot.conf: one a line, words separated by one blank. Throws std::invalid_argument, saying
/// which line is wrong or what is missing.
[[nodiscard]] Boot parse_boot(std::string_view text);

}  // namespace tare::guest
