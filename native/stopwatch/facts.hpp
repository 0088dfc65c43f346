// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tare::stopwatch {

/// What this process sees of the node it runs in, as one JSON object; throws `std::system_error`.
[[nodiscard]] std::string node_facts();

}  // namespace tare::stopwatch
