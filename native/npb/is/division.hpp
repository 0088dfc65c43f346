// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tare::npb::is {

/// Buckets of equal width, 2^exponent of them: enough that ranks can share them evenly, few enough that all
/// of their ends stay in the first cache, and so narrow that a key within its bucket fits 16 bits.
[[nodiscard]] int buckets_exponent(int ranks, int values_exponent);

/// Divides buckets among ranks so that each has about as many keys. Rank r has the buckets from result[r] to
/// result[r + 1]; `totals` are the keys of each bucket, of all ranks together.
[[nodiscard]] std::vector<int> divide(std::span<const std::uint32_t> totals, int ranks);

/// How many buckets the reference has: 2^exponent.
[[nodiscard]] int reference_buckets_exponent(int keys_exponent, int values_exponent);

/// Divides buckets among ranks as the reference does: rank r's end with the first one up to which there are
/// at least (r + 1) / ranks of all keys. Otherwise as `divide`.
[[nodiscard]] std::vector<int> divide_upwards(std::span<const std::uint32_t> totals, int ranks);

}  // namespace tare::npb::is
