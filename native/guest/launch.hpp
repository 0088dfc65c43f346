// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "channel/frame.hpp"
#include "guest/commands.hpp"
#include "guest/group.hpp"

namespace tare::guest {

/// Starts a command in a session of its own, with pipes for its standard files and the signals as a program
/// expects them, in a control group of `groups` or, where there is none, under a supervisor. Throws
/// std::system_error. The caller has `prepare_to_serve`d.
[[nodiscard]] Process launch(const channel::Execute& command, Groups& groups);

}  // namespace tare::guest
