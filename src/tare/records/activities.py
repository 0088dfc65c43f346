# SPDX-License-Identifier: Apache-2.0
"""Where the time of an MPI program goes: what its ranks do, as the profiler distinguishes it (docs/profiler.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


class Activity(StrEnum):
    """What a rank is at between MPI_Init and MPI_Finalize, in the usual order; each moment is of one of them."""

    INIT = "init"
    COMPUTE = "compute"
    COMMUNICATION = "communication"
    IO = "io"

    @property
    def metric(self) -> str:
        """The sample with its time, in seconds, in the mean over the ranks; a trial without any lacks it."""
        return f"profile_{self}_mean_s"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivitySummary:
    """One environment in one cell, native included, block by block; blocks with a whole profile alone.

    Natively both slots have one, and a time is their mean.
    """

    cell: Cell
    environment: str
    blocks: tuple[int, ...]
    """Numbers."""
    times_s: Mapping[Activity, tuple[float, ...]]
    """Per block, of all activities; 0: it took none. Of several instances the slowest's, as of any time."""

    @property
    def whole_s(self) -> tuple[float, ...]:
        """Per block, all activities together: from MPI_Init to MPI_Finalize."""
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
    """As a fraction of the whole; the medians of all need not add up to 1 to the last digit."""
    overhead: Estimate | None
    """Of its time against native, from the verdict on it; ``None`` for native, or without a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivitySplit:
    """How one environment's time is split."""

    summary: ActivitySummary
    activities: tuple[ActivityEstimate, ...]
    """All of them, in their order."""
    whole_s: Estimate
