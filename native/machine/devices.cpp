// SPDX-License-Identifier: Apache-2.0
#include "machine/devices.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "common/system.hpp"

namespace tare::machine {

namespace {

namespace fs = std::filesystem;

/// The entries of a folder, in order of their names; nothing where it is missing.
std::optional<std::vector<fs::path>> entries(const fs::path& folder) {
    std::error_code failed;
    std::vector<fs::path> found;
    fs::directory_iterator entry{folder, failed};
    for (const fs::directory_iterator last; !failed && entry != last; entry.increment(failed)) {
        found.push_back(entry->path());
    }
    std::sort(found.begin(), found.end());
    return failed ? std::nullopt : std::optional{found};
}

/// The last name of what a link of /sys points to: a driver's, or a bus's.
std::optional<std::string> target_name(const fs::path& link) {
    std::error_code failed;
    const auto target = fs::read_symlink(link, failed);
    return failed ? std::nullopt : std::optional{target.filename().string()};
}

std::string line_or_nothing(const fs::path& path) {
    return std::string{trimmed(read_text(path).value_or(""))};
}

/// `0x1af4` as `1af4`.
std::string bare(const std::string& number) { return number.starts_with("0x") ? number.substr(2) : number; }

std::optional<int> number_of(const std::string& text) {
    std::istringstream stream{bare(text)};
    int number = 0;
    return stream >> std::hex >> number && stream.eof() ? std::optional{number} : std::nullopt;
}

struct Chain {
    std::vector<std::string> drivers;
    std::vector<std::string> buses;
};

/// The drivers, each with its bus, of a device and of all that carry it.
Chain chain_of(const fs::path& device, const fs::path& devices) {
    std::error_code failed;
    Chain chain;
    auto place = fs::canonical(device, failed);
    while (!failed && place != devices && place.has_relative_path()) {
        if (const auto driver = target_name(place / "driver")) {
            chain.drivers.push_back(*driver);
            chain.buses.push_back(target_name(place / "subsystem").value_or(""));
        }
        place = place.parent_path();
    }
    return chain;
}

/// Devices of a class, or of all block devices, by the `device` that each entry of its folder links to.
Devices carried_devices(const fs::path& root, const fs::path& folder) {
    const auto found = entries(root / folder);
    if (!found) {
        return std::nullopt;
    }
    std::error_code failed;
    const auto devices = fs::canonical(root / "sys/devices", failed);
    std::vector<JsonObject> described;
    for (const auto& entry : *found) {
        const auto chain = chain_of(entry / "device", devices);
        described.push_back(JsonObject{}
                                .add("name", entry.filename().string())
                                .add("drivers", chain.drivers)
                                .add("buses", chain.buses));
    }
    return described;
}

JsonObject describe_virtio(const fs::path& device) {
    return JsonObject{}
        .add("name", device.filename().string())
        .add("id", number_of(line_or_nothing(device / "device")))
        .add("driver", target_name(device / "driver"));
}

JsonObject describe_pci(const fs::path& device) {
    return JsonObject{}
        .add("address", device.filename().string())
        .add("id", bare(line_or_nothing(device / "vendor")) + ':' + bare(line_or_nothing(device / "device")))
        .add("driver", target_name(device / "driver"));
}

/// A kernel without a bus's driver has no folder for it, and no devices on it that anything could use.
Devices bus_devices(const fs::path& root, const std::string& bus, JsonObject (*describe)(const fs::path&)) {
    const auto buses = root / "sys/bus";
    if (!entries(buses)) {
        return std::nullopt;
    }
    std::vector<JsonObject> described;
    for (const auto& device : entries(buses / bus / "devices").value_or(std::vector<fs::path>{})) {
        described.push_back(describe(device));
    }
    return described;
}

}  // namespace

Devices block_devices(const fs::path& root) { return carried_devices(root, "sys/block"); }

Devices network_interfaces(const fs::path& root) { return carried_devices(root, "sys/class/net"); }

Devices virtio_devices(const fs::path& root) { return bus_devices(root, "virtio", describe_virtio); }

Devices pci_devices(const fs::path& root) { return bus_devices(root, "pci", describe_pci); }

}  // namespace tare::machine
