// SPDX-License-Identifier: Apache-2.0
// Unix sockets (unix(7)) by which keeper and `enter` talk: a message is bytes and, beside them, open files.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "channel/frame.hpp"
#include "common/file_descriptor.hpp"

namespace tare::keeper {

/// Files that travel with a request: standard input, output and error output.
constexpr std::size_t standard_files = 3;

/// The number of `channel::Exit::failed` when the guest is gone; all others are of errno(3).
constexpr int guest_gone = -1;

/// A socket that listens at `path`, for its owner alone; throws `std::system_error`.
[[nodiscard]] FileDescriptor listen_at(const std::string& path);

/// A socket of `type`, such as SOCK_STREAM, connected to who listens at `path`; throws `std::system_error`.
[[nodiscard]] FileDescriptor connect_to(const std::string& path, int type);

/// Sends the bytes as one message with the files beside them; false with errno when they cannot be sent.
[[nodiscard]] bool send_message(int connection, std::string_view bytes, std::span<const int> files = {});

struct Message {
    std::string bytes;
    std::vector<FileDescriptor> files;
    bool whole = true;  ///< Nothing was cut off: neither bytes nor files.
};

/// One message, when one is there; empty bytes when the other end has closed the connection. Never waits.
[[nodiscard]] std::optional<Message> receive_message(int connection);

}  // namespace tare::keeper
