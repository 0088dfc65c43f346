# SPDX-License-Identifier: Apache-2.0
"""The clock of another host beside this one's while a trial ran."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HostClock:
    """A host's CLOCK_MONOTONIC_RAW against this host's, by exchanges around the trial's commands."""

    offset_s: float | None
    """That clock minus this host's, in the middle of the exchanges; ``None``: no honest clock gives these readings."""
    bound_s: float | None
    """Largest error of ``offset_s`` for any delays on the way, if the clock's rate is constant."""
    drift_low_ppm: float | None
    """Bounds of its rate against this host's, in millionths; above 0 it gains. ``None``: no constant rate explains the
    exchanges."""
    drift_high_ppm: float | None
    exchanges: int
    least_round_trip_s: float
    span_s: float
    """From the first question to the last answer."""
    at_s: float
    """The moment of ``offset_s``, by this host's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostClockSummary:
    """A host's clock against this host's over all trials of a result."""

    host: str
    trials: int
    """With a bound."""
    refuted: int
    """Trials in which no honest clock gives its readings."""
    offset_s: float | None
    """That clock minus this host's in the last of them; ``None`` without any."""
    bound_s: float | None
    """Largest error of the offset in any of them."""
    drift_low_ppm: float | None
    """Bounds of its rate from the first trial to the last; ``None``: there is one, or no constant rate explains all."""
    drift_high_ppm: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StartSkew:
    """How far apart the programs of instances on several hosts began, over all trials of a result."""

    trials: int
    median_s: float
    longest_s: float
    bound_s: float
    """Largest error of any of these, by the comparison of the hosts' clocks."""
