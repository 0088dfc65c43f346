// SPDX-License-Identifier: Apache-2.0
// How long a call waited for something that another rank did, as far as the two clocks tell.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tare::profile {

/// Of one call, or of several together.
struct Wait {
    /// What surely was waiting: nothing of a wait that the clocks' error may have made up.
    std::int64_t claimed_ticks;
    std::int64_t least_ticks;
    std::int64_t most_ticks;

    /// The largest error of what is claimed.
    [[nodiscard]] std::int64_t error_ticks() const {
        return std::max(claimed_ticks - least_ticks, most_ticks - claimed_ticks);
    }
    /// Another call's.
    void add(const Wait& other) {
        claimed_ticks += other.claimed_ticks;
        least_ticks += other.least_ticks;
        most_ticks += other.most_ticks;
    }
    /// In the same call for something else: it waits for the later one.
    void lengthen(const Wait& other) {
        claimed_ticks = std::max(claimed_ticks, other.claimed_ticks);
        least_ticks = std::max(least_ticks, other.least_ticks);
        most_ticks = std::max(most_ticks, other.most_ticks);
    }
};

/// In a call from `begin_ticks` to `end_ticks` for what happened at `until_ticks`, by the same clock but for
/// an error.
[[nodiscard]] inline Wait wait_until(std::int64_t begin_ticks, std::int64_t end_ticks,
                                     std::int64_t until_ticks, std::int64_t error_ticks) {
    const auto within_call = [&](std::int64_t wait_ticks) {
        return std::clamp<std::int64_t>(wait_ticks, 0, end_ticks - begin_ticks);
    };
    const std::int64_t wait_ticks = until_ticks - begin_ticks;
    return {.claimed_ticks = wait_ticks > error_ticks ? within_call(wait_ticks) : 0,
            .least_ticks = within_call(wait_ticks - error_ticks),
            .most_ticks = within_call(wait_ticks + error_ticks)};
}

}  // namespace tare::profile
