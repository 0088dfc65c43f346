# SPDX-License-Identifier: Apache-2.0
"""Where the time of an MPI program goes: the activities of its ranks, as the profiler sees them (docs/profiler.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


class Activity(StrEnum):
    """What a rank does between MPI_Init and MPI_Finalize, in the usual order; each moment belongs to one activity."""

    INIT = "init"
    COMPUTE = "compute"
    COMMUNICATION = "communication"
    IO = "io"

    @property
    def metric(self) -> str:
        """The sample that holds its time in seconds, averaged over the ranks; a trial without any lacks it."""
        return f"profile_{self}_mean_s"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivitySummary:
    """One environment in one cell, native included, block by block; only blocks with a complete profile.

    For native both slots have one, and a time is their mean.
    """

    cell: Cell
    environment: str
    blocks: tuple[int, ...]
    """Block numbers."""
    times_s: Mapping[Activity, tuple[float, ...]]
    """Per block, for every activity; 0: it took none. With several instances the slowest counts, as for any time."""

    @property
    def whole_s(self) -> tuple[float, ...]:
        """Sum of all activities per block: from MPI_Init to MPI_Finalize."""
        return tuple(sum(times) for times in zip(*self.times_s.values(), strict=True))

    @property
    def shares(self) -> Mapping[Activity, tuple[float, ...]]:
        """Per block, as fractions of the whole."""
        return {
            activity: tuple(time / whole for time, whole in zip(times_s, self.whole_s, strict=True))
            for activity, times_s in self.times_s.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityEstimate:
    """One activity: medians over blocks."""

    activity: Activity
    time_s: Estimate
    share: Estimate
    """Fraction of the whole; the medians of all activities need not add up to exactly 1."""
    overhead: Estimate | None
    """Overhead of its time against native, from its verdict; ``None`` for native, or without a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivitySplit:
    """How one environment's time divides among the activities."""

    summary: ActivitySummary
    activities: tuple[ActivityEstimate, ...]
    """All activities, in their order."""
    whole_s: Estimate
