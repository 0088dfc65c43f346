// SPDX-License-Identifier: Apache-2.0
// What the ticks of one kernel's clock are in another's ticks, with hard bounds, by questions at the begin
// and at the end of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tare::profile {

/// A question to the reference clock: it was read at some moment between the question and its answer, however
/// long either was on its way.
struct ClockReading {
    /// By the own clock.
    std::int64_t asked_ticks;
    std::int64_t reference_ticks;
    /// By the own clock.
    std::int64_t answered_ticks;

    [[nodiscard]] std::int64_t round_trip_ticks() const { return answered_ticks - asked_ticks; }
};

/// The reference clock's ticks for another clock's. Both count at rates of their own.
struct ClockLine {
    /// One moment by both.
    std::int64_t own_ticks;
    std::int64_t reference_ticks;
    /// Reference ticks for one of its own, less 1: exact for a clock and itself, whatever it shows.
    double rate_less_1;
    /// The largest error of a moment between the two questions.
    double error_ns;

    [[nodiscard]] std::int64_t to_reference(std::int64_t ticks) const;
    [[nodiscard]] std::int64_t from_reference(std::int64_t ticks) const;
};

/// A clock and itself.
inline constexpr ClockLine same_clock{.own_ticks = 0, .reference_ticks = 0, .rate_less_1 = 0, .error_ns = 0};

/// What a rank tells all others of its clock.
struct ClockNotice {
    std::uint64_t clock;
    double ns_per_tick;
    /// All zero without a question.
    ClockReading first;
    ClockReading last;
};

/// A rank's clock beside the others'.
struct RankClock {
    /// The same in ranks that read one clock.
    std::uint64_t clock;
    /// The same in ranks whose moments can be compared.
    std::uint64_t realm;
    double ns_per_tick;
    /// To the reference of its realm.
    ClockLine line;
};

/// The line through the readings at both ends of a run; nothing if two honest clocks cannot have shown them.
/// At either end it is off by at most half the round trip, whatever the ways were. Between them the rate of
/// one clock by the other may wander within a millionth of its mean, which adds most in the middle: a
/// millionth of half the run. One microsecond more is how old a reading may be.
[[nodiscard]] std::optional<ClockLine> line_between(const ClockReading& first, const ClockReading& last,
                                                    double ns_per_tick, double reference_ns_per_tick);

/// Of each rank; the reference is the first's clock, and the first of the others that read a clock asked.
[[nodiscard]] std::vector<RankClock> rank_clocks(std::span<const ClockNotice> notices);

/// Rounded up.
[[nodiscard]] std::int64_t ticks_of(double span_ns, const RankClock& clock);

/// The largest error of the other's moments by the own clock, in its ticks.
[[nodiscard]] std::int64_t error_ticks(const RankClock& own, const RankClock& other);

}  // namespace tare::profile
