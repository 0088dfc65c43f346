// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/file_descriptor.hpp"
#include "guest/boot.hpp"

namespace tare::guest {

/// The guest's end of the channel, raw and nonblocking. Waits for the device; throws std::runtime_error or
/// std::system_error.
[[nodiscard]] FileDescriptor open_channel(const Channel& channel);

/// Waits until somebody holds the host's end. There is no limit: who started the guest has one.
void await_host(const FileDescriptor& channel);

}  // namespace tare::guest
