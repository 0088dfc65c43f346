// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tare::bounce {

/// What UDP over IPv4 can carry: 65535 bytes less both headers.
constexpr std::size_t most_datagram_byte = 65'507;

/// How often each size goes there and back, and after which time without an answer a datagram is lost.
struct Trips {
    std::chrono::milliseconds patience{1};
    std::uint64_t rounds = 1;
    std::uint64_t trips = 1;
};

/// Sends each datagram back to where it came from. Never returns.
[[noreturn]] void serve_datagrams(std::uint16_t port);

/// Sends datagrams of each size to such a server, one after the other, and gives as JSON each size's lowest
/// mean of a round's one-way times. A datagram that is not answered in time is counted as lost and sent
/// again. Throws `std::system_error`, and `std::runtime_error` after many losses in a row or for a wrong
/// byte.
[[nodiscard]] std::string time_datagrams(const sockaddr_in& server, Trips wanted,
                                         const std::vector<std::size_t>& sizes_byte);

}  // namespace tare::bounce
