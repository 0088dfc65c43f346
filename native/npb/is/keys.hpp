// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "npb/common/share.hpp"

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
using KeyShare = Share<std::int64_t>;

/// Fills the keys of a share: each is a quarter of the number of values, times the sum of four uniforms of
/// the sequence, rounded down. They are the same on any number of ranks.
void generate(const Sizes& sizes, const KeyShare& share, std::span<std::uint32_t> keys);

/// Changes the two keys of an iteration (counted from 1), in the ranks that hold them.
void alter(const Sizes& sizes, const KeyShare& share, int iteration, std::span<std::uint32_t> keys);

}  // namespace tare::npb::is
