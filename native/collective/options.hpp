// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "collective/groups.hpp"

namespace tare::collective {

enum class Benchmark { pingpong, sendrecv, exchange, bcast, allreduce, alltoall, barrier };

[[nodiscard]] std::string_view name_of(Benchmark benchmark);

/// A message size and how many calls are timed with it.
struct Point {
    std::size_t size_byte = 0;
    std::uint64_t count = 1;
};

/// What the command line asks for.
struct Options {
    Benchmark benchmark = Benchmark::exchange;
    int group_ranks = 0;  ///< Ranks of a group; 0: one group of all.
    Mapping mapping = Mapping::near;
    std::vector<Point> points;  ///< At least one.
};

/// Reads `BENCHMARK [--group-ranks N] [--mapping near|far] SIZE:COUNT ...`. Throws `std::invalid_argument`.
[[nodiscard]] Options parse_options(std::span<char* const> arguments);

}  // namespace tare::collective
