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
