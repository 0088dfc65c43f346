// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace tare::stopwatch {

using Clock = std::int64_t (*)();

/// What came of processors that passed readings of one clock to and fro.
struct Exchanges {
    unsigned pairs = 0;
    std::uint64_t count = 0;
    std::uint64_t backward = 0;  ///< Readings below one that another processor had taken before.
    std::int64_t worst_ns = 0;   ///< The largest of these differences.
};

/// Lets the first of `processors` exchange readings with each of the others, two threads at a time, each
/// pinned to its processor: `count` of them in all, or as many as `limit_ns` allows. Nothing is exchanged
/// where there is one processor only, or where threads cannot be made or pinned.
[[nodiscard]] Exchanges exchange_readings(const std::vector<int>& processors, Clock clock,
                                          std::uint64_t count, std::int64_t limit_ns);

}  // namespace tare::stopwatch
