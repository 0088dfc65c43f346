// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/restrictions.hpp"

namespace tare::stopwatch {

/// What a command under `restrictions` sees of the node it runs in, as one JSON object; throws
/// `std::system_error`.
[[nodiscard]] std::string node_facts(const Restrictions& restrictions);

}  // namespace tare::stopwatch
