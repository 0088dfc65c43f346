// SPDX-License-Identifier: Apache-2.0
// The JSON of a profile.
#pragma once

#include <string>
#include <vector>

#include "profile/record.hpp"

namespace tare::profile {

/// A run as far as it is known.
struct Run {
    std::string program;
    std::string library;
    int ranks;
    /// One object for each rank that is known.
    std::vector<std::string> known;
    /// The others.
    std::vector<int> missing;
    /// Whether a rank is missing, or did not come to MPI_Finalize.
    bool partial;
};

/// One rank's object.
[[nodiscard]] std::string rank_text(const RankCounters& counters);

/// The whole file.
[[nodiscard]] std::string run_text(const Run& run);

/// What a fixed array of the record holds, up to its zero.
template <std::size_t size>
[[nodiscard]] std::string text_of(const std::array<char, size>& characters) {
    return {characters.begin(), std::find(characters.begin(), characters.end(), '\0')};
}

}  // namespace tare::profile
