// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "common/json.hpp"

namespace tare::stopwatch {

/// What confines this process, and with it the command that it will start: credentials, filters, namespaces,
/// priorities and resource limits, as the kernel says (proc(5), getrlimit(2), ioprio_get(2), sched(7)).
/// What it does not say is null.
[[nodiscard]] JsonObject confinement();

/// The same of credentials and filters alone, from the text of /proc/self/status.
void add_credentials(JsonObject& object, std::string_view status);

}  // namespace tare::stopwatch
