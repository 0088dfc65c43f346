// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "guest/boot.hpp"

namespace tare::guest {

/// Brings the loopback up and, where the guest has an address, its one interface, which is called eth0 then.
/// Waits for it. Throws std::runtime_error or std::system_error.
void set_up_network(const Boot& boot);

}  // namespace tare::guest
