// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "slices/piece.hpp"

namespace tare::slices {

/// Unit: one multiplication of matrices of 48 x 48 doubles, which stay in the first or second cache.
[[nodiscard]] std::unique_ptr<Piece> make_compute();

/// The triad a = b + s c of McCalpin's STREAM over three arrays of so many MiB. Unit: the next MiB of each;
/// the end of the arrays is followed by their beginning.
[[nodiscard]] std::unique_ptr<Piece> make_bandwidth(std::size_t array_mib);

/// Updates of random words in a table of 128 MiB, as HPC Challenge's RandomAccess. Unit: 1024 updates.
[[nodiscard]] std::unique_ptr<Piece> make_random();

/// Unit: one getppid(2), by syscall(2): no library and no vDSO answers in the kernel's place.
[[nodiscard]] std::unique_ptr<Piece> make_system_calls();

/// Unit: one process started by posix_spawn(3) and waited for; `program` with --exit does nothing else.
[[nodiscard]] std::unique_ptr<Piece> make_process_start(std::string program);

}  // namespace tare::slices
