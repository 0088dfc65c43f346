// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace tare::npb::is {

/// The sizes that make a problem.
struct Sizes {
    /// There are 2^keys_exponent keys, each less than 2^values_exponent.
    int keys_exponent;
    int values_exponent;
    int iterations;

    [[nodiscard]] constexpr std::int64_t keys() const { return std::int64_t{1} << keys_exponent; }
    [[nodiscard]] constexpr std::uint32_t values() const { return std::uint32_t{1} << values_exponent; }
};

/// Some keys in a row, of all keys that the ranks hold together.
struct Share {
    std::int64_t first;
    std::int64_t count;

    [[nodiscard]] constexpr bool holds(std::int64_t index) const {
        return index >= first && index < first + count;
    }
};

/// One rank's keys: as even as they can be.
[[nodiscard]] constexpr Share share_of(std::int64_t keys, int rank, int ranks) {
    const std::int64_t first = keys * rank / ranks;
    return {.first = first, .count = keys * (rank + 1) / ranks - first};
}

/// Fills the keys of a share: each is a quarter of the number of values, times the sum of four uniforms of
/// the sequence, rounded down. They are the same on any number of ranks.
void generate(const Sizes& sizes, const Share& share, std::span<std::uint32_t> keys);

/// Changes the two keys of an iteration (counted from 1), in the ranks that hold them.
void alter(const Sizes& sizes, const Share& share, int iteration, std::span<std::uint32_t> keys);

}  // namespace tare::npb::is
