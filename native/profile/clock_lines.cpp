// SPDX-License-Identifier: Apache-2.0
#include "profile/clock_lines.hpp"

#include <algorithm>
#include <cmath>

namespace tare::profile {

namespace {

/// How much faster or slower than on average one clock may run against another for a part of the run.
constexpr double wander = 1e-6;

/// Of two clocks, each of which its kernel calibrated or a time service disciplines.
constexpr double most_rate_difference = 1e-4;

/// Of the coarsest clock source.
constexpr double resolution_ns = 1'000;

std::int64_t scaled(std::int64_t ticks, double rate_less_1) {
    return ticks + std::llround(static_cast<double>(ticks) * rate_less_1);
}

std::int64_t middle_ticks(const ClockReading& reading) {
    return reading.asked_ticks + reading.round_trip_ticks() / 2;
}

double half_trip_ns(const ClockReading& reading, double ns_per_tick) {
    return static_cast<double>(reading.round_trip_ticks()) / 2 * ns_per_tick;
}

std::optional<ClockLine> line_of(const ClockNotice& asker, const ClockNotice& reference) {
    return asker.first.answered_ticks == 0
               ? std::nullopt
               : line_between(asker.first, asker.last, asker.ns_per_tick, reference.ns_per_tick);
}

RankClock clock_beside(const ClockNotice& own, const ClockNotice& asker, const ClockNotice& reference) {
    const auto line = own.clock == reference.clock ? std::optional{same_clock} : line_of(asker, reference);
    return {.clock = own.clock,
            .realm = line ? reference.clock : own.clock,
            .ns_per_tick = own.ns_per_tick,
            .line = line.value_or(same_clock)};
}

}  // namespace

std::int64_t ClockLine::to_reference(std::int64_t ticks) const {
    return reference_ticks + scaled(ticks - own_ticks, rate_less_1);
}

std::int64_t ClockLine::from_reference(std::int64_t ticks) const {
    return own_ticks + scaled(ticks - reference_ticks, 1 / (1 + rate_less_1) - 1);
}

std::optional<ClockLine> line_between(const ClockReading& first, const ClockReading& last, double ns_per_tick,
                                      double reference_ns_per_tick) {
    const std::int64_t own_ticks = middle_ticks(last) - middle_ticks(first);
    const std::int64_t reference_ticks = last.reference_ticks - first.reference_ticks;
    if (own_ticks <= 0 || reference_ticks <= 0) {
        return std::nullopt;
    }
    const double own_ns = static_cast<double>(own_ticks) * ns_per_tick;
    const double reference_ns = static_cast<double>(reference_ticks) * reference_ns_per_tick;
    const double first_ns = half_trip_ns(first, ns_per_tick);
    const double last_ns = half_trip_ns(last, ns_per_tick);
    if (std::abs(own_ns - reference_ns) >
        most_rate_difference * own_ns + first_ns + last_ns + 2 * resolution_ns) {
        return std::nullopt;
    }
    return ClockLine{
        .own_ticks = middle_ticks(first),
        .reference_ticks = first.reference_ticks,
        .rate_less_1 = static_cast<double>(reference_ticks - own_ticks) / static_cast<double>(own_ticks),
        .error_ns = std::max(first_ns, last_ns) + wander * own_ns / 2 + resolution_ns};
}

std::vector<RankClock> rank_clocks(std::span<const ClockNotice> notices) {
    std::vector<RankClock> clocks;
    std::transform(notices.begin(), notices.end(), std::back_inserter(clocks), [&](const ClockNotice& own) {
        const auto asker = std::find_if(notices.begin(), notices.end(),
                                        [&](const ClockNotice& other) { return other.clock == own.clock; });
        return clock_beside(own, *asker, notices.front());
    });
    return clocks;
}

std::int64_t ticks_of(double span_ns, const RankClock& clock) {
    return std::llround(std::ceil(span_ns / clock.ns_per_tick));
}

std::int64_t error_ticks(const RankClock& own, const RankClock& other) {
    return own.clock == other.clock ? 0 : ticks_of(own.line.error_ns + other.line.error_ns, own);
}

}  // namespace tare::profile
