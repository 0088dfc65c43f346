// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace tare::init {

/// The life of a container's first process: says READY, reaps every child, and ends when a signal says so.
///
/// With a `socket` it also starts commands for whoever connects there (`enter`): its own children, so that
/// they have exactly the confinement that the container's technology gave this process. Throws
/// std::system_error when it cannot listen.
int attend(const std::optional<std::string>& socket);

}  // namespace tare::init
