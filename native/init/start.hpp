// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <span>

#include "channel/frame.hpp"
#include "common/file_descriptor.hpp"

namespace tare::init {

/// Starts a command in a session of its own, with `files` as its three standard files and no signal blocked
/// or ignored; less than 0 with errno when it cannot be run.
[[nodiscard]] pid_t start(const channel::Execute& command, std::span<const FileDescriptor> files);

}  // namespace tare::init
