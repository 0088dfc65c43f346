// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace tare::guest {

/// Serves a channel in a machine that is there already, as an ordinary program: it mounts nothing, sets no
/// clock and powers nothing off. `arguments`: --virtio NAME or --serial DEVICE, and perhaps --groups FOLDER,
/// a control group of version 2 to make the commands' groups in. Returns the exit code: 0 when the host
/// ended it by `power_off`. Throws std::invalid_argument for wrong use.
[[nodiscard]] int serve(std::span<char* const> arguments);

}  // namespace tare::guest
