// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "channel/line.hpp"
#include "guest/boot.hpp"

namespace tare::guest {

/// The guest's end of the channel. Waits for the device, and until somebody holds the host's end: that
/// without a limit, as who started the guest has one. Throws std::runtime_error or std::system_error.
[[nodiscard]] channel::Line open_line(const Channel& channel);

}  // namespace tare::guest
