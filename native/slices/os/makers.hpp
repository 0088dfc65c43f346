// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "slices/piece.hpp"

namespace tare::slices {

/// The operations of an operating system by their names; `program` with --exit does nothing.
[[nodiscard]] Makers os_makers(const std::string& program);

}  // namespace tare::slices
