// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "slices/piece.hpp"

namespace tare::slices {

/// Unit: one multiplication of matrices of 48 x 48 doubles, which stay in the first or second cache.
[[nodiscard]] std::unique_ptr<Piece> make_compute();

/// Unit: one getppid(2), by syscall(2): no library and no vDSO answers in the kernel's place.
[[nodiscard]] std::unique_ptr<Piece> make_system_calls();

/// Unit: one process started by posix_spawn(3) and waited for; `program` with --exit does nothing else.
[[nodiscard]] std::unique_ptr<Piece> make_process_start(std::string program);

}  // namespace tare::slices
