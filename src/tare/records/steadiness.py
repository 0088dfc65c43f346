# SPDX-License-Identifier: Apache-2.0
"""What becomes of a run that is repeated within one start: classes after Barrett and others 2017 (docs/method.md)."""

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
    """Of the samples, without a word on iterations."""
    starts: tuple[tuple[float, ...], ...]
    """ln(time per unit of work) of each iteration of a start, the first one included, in order; only of starts in which
    every iteration has a usable value."""


class IterationCourse(StrEnum):
    """How the iterations of one start go on."""

    FLAT = "flat"
    """One level from the first on."""
    WARM_UP = "warm-up"
    """The last level is the fastest, and was reached in time."""
    SLOWDOWN = "slowdown"
    """The last level was reached in time, and an earlier one was faster."""
    UNSTEADY = "no steady state"
    """The level still changed in the last quarter."""
    SHORT = "too few iterations"
    """Fewer than eight: levels cannot be told from noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steadiness:
    """The courses of one environment's starts, native included, by one metric."""

    cell: Cell
    environment: str
    metric: str
    """Of the samples, without a word on iterations."""
    iterations: int
    """Most of any start, the first one included."""
    counts: Mapping[IterationCourse, int]
    """Course → how many starts took it; over complete series."""

    @property
    def starts(self) -> int:
        return sum(self.counts.values())
