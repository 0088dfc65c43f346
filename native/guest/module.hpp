// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tare::guest {

/// Loads the kernel module in `file`; one that is there already is fine. Throws std::system_error.
void load_module(const std::string& file);

}  // namespace tare::guest
