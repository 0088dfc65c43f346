// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tare::npb {

/// NPB's three answers to "is the result right?".
enum class Verification { successful, unsuccessful, not_performed };

/// One value that the run must reproduce.
struct Check {
    std::string name;
    double computed = 0;
    /// The published value; nothing for a problem of the user's own.
    std::optional<double> published{};
    /// The largest |computed - published| / |published| that is right.
    double tolerance = 0;

    [[nodiscard]] std::optional<double> relative_error() const;
    /// Not a number is never right.
    [[nodiscard]] bool is_right() const;
};

/// Wrong beats unverifiable, which beats right; no check at all is unverifiable.
[[nodiscard]] Verification verdict(const std::vector<Check>& checks);

/// A part of the timed region, in this rank.
struct Phase {
    std::string name;
    double wall_s = 0;
};

/// What one rank knows after its run. `checks` count in rank 0 alone, but for `wrong_here`.
struct Outcome {
    /// The problem's edges as NPB prints them: one value, or three.
    std::vector<std::int64_t> size{};
    int iterations = 0;
    /// This rank's time in the timed region (MPI_Wtime, after a barrier); that of the slowest rank is the
    /// run's.
    double wall_s = 0;
    /// Operations of the whole run by NPB's count, in millions.
    double million_operations = 0;
    std::string operation = "floating point";
    /// Ranks that took part; the others waited.
    int active_ranks = 1;
    std::vector<Check> checks{};
    /// Set where a rank sees a wrong result that rank 0 cannot see.
    bool wrong_here = false;
    /// The same names in the same order in every rank.
    std::vector<Phase> phases{};
};

}  // namespace tare::npb
