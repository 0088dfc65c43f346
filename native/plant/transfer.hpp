// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace tare::plant {

/// What came through.
struct Received {
    std::size_t size_byte;
    std::uint64_t checksum;
};

/// Sends `size_byte` bytes from one process to another over one TCP connection of the loopback device, and
/// waits until the last one is there. Throws `std::system_error`.
[[nodiscard]] Received transfer(std::size_t size_byte);

}  // namespace tare::plant
