// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/file_descriptor.hpp"

namespace tare {

/// `number` is in network byte order.
[[nodiscard]] sockaddr_in internet_address(in_addr_t number, std::uint16_t port);
[[nodiscard]] const sockaddr* generic(const sockaddr_in& address);

/// A new socket of IPv4 of `type`, such as SOCK_STREAM. Throws `std::system_error`.
[[nodiscard]] FileDescriptor internet_socket(int type);

/// A TCP socket that awaits clients at any address of this node. Throws `std::system_error`.
[[nodiscard]] FileDescriptor listen_on(std::uint16_t port, int backlog);

/// Whether a line of /proc/net/tcp or udp, or of their like for IPv6, is of a socket that awaits clients on
/// `port`.
[[nodiscard]] bool is_listener(std::string_view line, std::uint16_t port);

/// Whether any process of this network awaits clients on `port`, over TCP or UDP.
[[nodiscard]] bool listens(std::uint16_t port);

/// The IPv4 address of a node's name, as `hosts` (the text of /etc/hosts) has it; a number is its own. Empty
/// if unknown.
[[nodiscard]] std::string address_of(std::string_view host, std::string_view hosts);

/// The same by this node's /etc/hosts.
[[nodiscard]] std::string address_of_node(std::string_view host);

/// The first connection to `port`; nothing if there is none within `limit`. Throws `std::system_error`.
[[nodiscard]] FileDescriptor accept_one(std::uint16_t port, std::chrono::milliseconds limit);

/// A connection; nothing if nobody listens there yet, or the name is unknown.
[[nodiscard]] FileDescriptor connect_to(const std::string& host, std::uint16_t port);

/// Waits until the peer has closed the connection (true), or a child has ended (false).
[[nodiscard]] bool wait_for_end(const FileDescriptor& connection);

/// Lets `wait_for_end` notice the end of a child that happens before it waits.
void block_child_signal();
/// In a child, before it becomes a command.
void unblock_child_signal();

}  // namespace tare
