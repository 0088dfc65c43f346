// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "slices/memory/memory.hpp"
#include "slices/piece.hpp"

namespace tare::slices {

/// Of each array in a unit of STREAM's operations: 1 MiB. By McCalpin's count copy and scale move twice as
/// many bytes, add and triad three times.
constexpr std::uint64_t stream_unit_elements = (std::uint64_t{1} << 20U) / sizeof(double);
constexpr std::uint64_t random_unit_updates = 1024;
constexpr std::size_t usual_table_byte = std::size_t{128} << 20U;

/// All pieces that work on memory: `copy`, `scale`, `add`, `triad`, `random` and `chase` with a size behind
/// the name, `chase` also with a stride; and `bandwidth` and `random-access`, the triad over three arrays of
/// so many MiB and the updates of a table of the usual size.
[[nodiscard]] Makers memory_makers(Memory& memory, std::size_t array_mib);

/// An operation of McCalpin's STREAM over arrays of `size_byte` together. Unit: the next 2^17 elements of
/// each; the end of the arrays is followed by their beginning.
[[nodiscard]] std::unique_ptr<Piece> make_stream(std::string_view operation, std::size_t size_byte,
                                                 Memory& memory);

/// Loads that wait for each other: each names the place of the next, in a random order over all places, which
/// are `stride_byte` apart in `size_byte`. Unit: one load; the next slice goes on where this one ends.
[[nodiscard]] std::unique_ptr<Piece> make_chase(std::size_t size_byte, std::size_t stride_byte,
                                                Memory& memory);

/// HPC Challenge's RandomAccess of one process: a table of `size_byte`, a power of two. Unit: 1024 updates,
/// the same in every slice.
[[nodiscard]] std::unique_ptr<Piece> make_random(std::size_t size_byte, Memory& memory);

}  // namespace tare::slices
