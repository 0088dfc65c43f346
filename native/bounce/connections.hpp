// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>

namespace tare::bounce {

/// Accepts connections in each of `threads` threads, and answers the byte that comes over each. Never
/// returns.
[[noreturn]] void serve_connections(std::uint16_t port, unsigned threads);

/// Opens `connections` connections to such a server, `threads` at a time, and gives their times as JSON.
/// Throws `std::system_error` if one fails, and `std::runtime_error` unless the server has answered all.
[[nodiscard]] std::string time_connections(const sockaddr_in& server, std::uint64_t connections,
                                           unsigned threads);

}  // namespace tare::bounce
