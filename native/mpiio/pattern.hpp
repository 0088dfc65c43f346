// SPDX-License-Identifier: Apache-2.0
// What is written: bytes that depend on the seed, the rank and the place in the file, so that a byte of
// another rank, from another place or from an earlier run is a wrong one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tare::mpiio {

struct Source {
    std::uint64_t seed = 0;
    int rank = 0;
};

/// Fills `bytes` with what belongs at `place` in the file.
void fill(std::span<std::byte> bytes, const Source& source, std::uint64_t place);

/// How many of `bytes` are not what belongs at `place` in the file.
[[nodiscard]] std::uint64_t count_wrong(std::span<const std::byte> bytes, const Source& source,
                                        std::uint64_t place);

}  // namespace tare::mpiio
