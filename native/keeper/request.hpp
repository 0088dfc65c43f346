// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "keeper/unix_socket.hpp"

namespace tare::keeper {

/// What stands in the way of a client's request; empty when nothing does.
[[nodiscard]] std::string fault_of(const Message& message);

}  // namespace tare::keeper
