// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "npb/common/arguments.hpp"
#include "npb/common/outcome.hpp"
#include "npb/common/world.hpp"

namespace tare::npb {

/// A run as rank 0 tells it.
struct Report {
    std::string kernel;
    Arguments arguments;
    int ranks = 1;
    Outcome outcome{};
    Verification verification = Verification::not_performed;
    /// Per rank.
    std::vector<double> rank_wall_s{};
    /// Per phase of `outcome.phases`, per rank.
    std::vector<std::vector<double>> phase_wall_s{};

    /// The slowest rank's time.
    [[nodiscard]] double wall_s() const;
    [[nodiscard]] double million_operations_per_s() const;
};

/// Brings all ranks' times and doubts to rank 0; only there is the result whole.
[[nodiscard]] Report gathered(std::string kernel, const Arguments& arguments, const World& world,
                              Outcome outcome);

/// One line.
[[nodiscard]] std::string json(const Report& report);

/// Lines of `name = value` in the layout of NPB's own block, which its parsers read; the version says that
/// this is no program of the reference.
[[nodiscard]] std::string text(const Report& report);

}  // namespace tare::npb
