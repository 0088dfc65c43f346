# SPDX-License-Identifier: Apache-2.0
"""How a run repeated within one start develops: classes after Barrett and others 2017 (docs/method.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tare.records.treated import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationSeries:
    """One metric of one environment, native included, start by start and iteration by iteration."""

    cell: Cell
    environment: str
    metric: str
    """Metric of the samples, without the suffix for iterations."""
    starts: tuple[tuple[float, ...], ...]
    """ln(time per unit of work) of each iteration of a start, the first included, in order; only starts in which every
    iteration has a usable value."""


class IterationCourse(StrEnum):
    """How the iterations of one start develop."""

    FLAT = "flat"
    """One level from the first iteration on."""
    WARM_UP = "warm-up"
    """The last level is the fastest, and was reached in time."""
    SLOWDOWN = "slowdown"
    """The last level was reached in time, and an earlier one was faster."""
    UNSTEADY = "no steady state"
    """The level still changed in the last quarter."""
    SHORT = "too few iterations"
    """Fewer than eight: levels cannot be distinguished from noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steadiness:
    """The courses of one environment's starts, native included, by one metric."""

    cell: Cell
    environment: str
    metric: str
    """Metric of the samples, without the suffix for iterations."""
    iterations: int
    """The largest number in any start, the first iteration included."""
    counts: Mapping[IterationCourse, int]
    """Course → how many starts took it; over complete series."""

    @property
    def starts(self) -> int:
        return sum(self.counts.values())
