# SPDX-License-Identifier: Apache-2.0
"""How well the clocks of a campaign's hosts are known against this host's, over all trials."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from tare.records import Outcome
from tare.records.host_clocks import HostClock, HostClockSummary, StartSkew

_MILLION = 1e6


class _ClockThen(NamedTuple):
    """A clock in one trial."""

    at_s: float
    offset_s: float
    bound_s: float

    def gain_s(self, later: "_ClockThen") -> float:
        return later.offset_s - self.offset_s


def host_clock_summaries(outcomes: Sequence[Outcome]) -> tuple[HostClockSummary, ...]:
    """One for each host, by name; none where a campaign lists no hosts."""
    clocks: dict[str, list[HostClock]] = defaultdict(list)
    for outcome in outcomes:
        for host, clock in outcome.host_clocks.items():
            clocks[host].append(clock)
    return tuple(_summary(host, own) for host, own in sorted(clocks.items()))


def _summary(host: str, clocks: Sequence[HostClock]) -> HostClockSummary:
    bounded = [
        _ClockThen(clock.at_s, clock.offset_s, clock.bound_s)
        for clock in clocks
        if clock.offset_s is not None and clock.bound_s is not None
    ]
    low_ppm, high_ppm = _drift_ppm(bounded)
    return HostClockSummary(
        host=host,
        trials=len(bounded),
        refuted=len(clocks) - len(bounded),
        offset_s=bounded[-1].offset_s if bounded else None,
        bound_s=max((seen.bound_s for seen in bounded), default=None),
        drift_low_ppm=low_ppm,
        drift_high_ppm=high_ppm,
    )


def _drift_ppm(seen: Sequence[_ClockThen]) -> tuple[float, float] | tuple[None, None]:
    """Bounds from the first and the last trial with each other one; a pair proves as much as its two bounds allow."""
    ends = [(early, late) for early in seen[:1] for late in seen[1:]]
    ends += [(early, late) for late in seen[-1:] for early in seen[1:-1]]
    spans = [(early, late, late.at_s - early.at_s) for early, late in ends if late.at_s > early.at_s]
    if not spans:
        return None, None
    low = max((e.gain_s(late) - e.bound_s - late.bound_s) / span_s for e, late, span_s in spans)
    high = min((e.gain_s(late) + e.bound_s + late.bound_s) / span_s for e, late, span_s in spans)
    return (low * _MILLION, high * _MILLION) if low <= high else (None, None)


def start_skew(outcomes: Sequence[Outcome]) -> StartSkew | None:
    """Over the trials whose instances began on several clocks; ``None`` without any."""
    known = [
        (outcome.barrier_skew_s, outcome.barrier_skew_bound_s)
        for outcome in outcomes
        if outcome.barrier_skew_s is not None and outcome.barrier_skew_bound_s
    ]
    if not known:
        return None
    skews_s = [skew_s for skew_s, _ in known]
    return StartSkew(
        trials=len(known),
        median_s=median(skews_s),
        longest_s=max(skews_s),
        bound_s=max(bound_s for _, bound_s in known),
    )
