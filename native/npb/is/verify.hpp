// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "npb/common/arguments.hpp"
#include "npb/common/outcome.hpp"
#include "npb/common/world.hpp"
#include "npb/is/classes.hpp"
#include "npb/is/keys.hpp"
#include "npb/is/ranking.hpp"

namespace tare::npb::is {

/// The ranks that one iteration found for the keys of the partial test. Where another rank of the run knows
/// it, a rank is `known_elsewhere`.
using Found = std::array<std::int64_t, tests_per_class>;
/// Less than any rank.
constexpr std::int64_t known_elsewhere = -1;

/// The partial tests of all iterations.
struct PartialTests {
    std::vector<Found> found{};
    /// How many keys had the published rank; each is tested once in an iteration.
    std::int64_t passed = 0;
    /// How many keys hold in the end what an iteration was to make of them: few ranks show whether they do.
    std::int64_t changed = 0;
};

/// Throws `WrongUse` for a class that has no published answer.
[[nodiscard]] const Class& class_of(ProblemClass name);

/// An iteration's partial test: how many of its keys have the published rank. Keys that another rank of the
/// run knows count there.
[[nodiscard]] std::int64_t passed(const Class& problem, int iteration, const Found& found);

/// How many of the keys that the iterations change, in this share, hold the specified value after the last.
[[nodiscard]] std::int64_t changed(const Sizes& sizes, const KeyShare& share,
                                   std::span<const std::uint32_t> keys);

/// The full verification: puts each key at the place that its rank gives it and looks whether the keys of all
/// ranks are then in order. The number of faults in all ranks: keys without a place or lower than the key
/// before them, in this rank or in those before it; and one for each rank if the sorted keys are not the
/// `original` ones. In rank 0 alone; changes nothing.
[[nodiscard]] std::int64_t faults_of_order(const Ranking& ranking, std::span<const std::uint32_t> original,
                                           const World& world);

/// The partial tests of all iterations: of each key the one furthest from its published rank, how many
/// passed, and how many keys were changed; then the number of faults in the order of the sorted keys. `tests`
/// is empty for a problem that has no published ranks.
[[nodiscard]] std::vector<Check> checks(const Class& problem, const PartialTests& tests, std::int64_t faults);

}  // namespace tare::npb::is
