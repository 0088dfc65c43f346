// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/file_descriptor.hpp"

namespace tare::stopwatch {

/// Blocks the signals that end a session, and SIGCHLD, to be read from what this returns; SIGPIPE is blocked
/// to see EPIPE instead. The command inherits dispositions, so all become the default. Throws
/// `std::system_error`.
[[nodiscard]] FileDescriptor take_signals();

}  // namespace tare::stopwatch
