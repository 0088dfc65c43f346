// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "slices/piece.hpp"

namespace tare::slices {

/// Unit: one message of so many byte from each even rank to the next odd one and back, all pairs at once.
[[nodiscard]] std::unique_ptr<Piece> make_ping_pong(std::size_t size_byte);

/// Unit: one sum of 8 byte over all ranks.
[[nodiscard]] std::unique_ptr<Piece> make_allreduce();

}  // namespace tare::slices
