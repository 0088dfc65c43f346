# SPDX-License-Identifier: Apache-2.0
"""How runs vary: from block to block, start to start, iteration to iteration, and within a start (docs/method.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One start of an environment: one trial."""

    block: int
    log_times: tuple[float, ...]
    """ln(time per unit of work) of each iteration, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockStarts:
    """The three starts of one block."""

    native: tuple[Start, Start]
    environment: Start


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """One metric of one environment, block by block, down to the iterations."""

    cell: Cell
    environment: str
    metric: str
    blocks: tuple[BlockStarts, ...]
    start_cost_s: float | None
    """Median time that a start and a stop of the environment's nodes take; ``None``: not known."""
    iteration_cost_s: float | None
    """Median time of one iteration of the workload there; ``None``: not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceSplit:
    """Variances of ln(time per unit of work) with intervals; a root is roughly a coefficient of variation."""

    cell: Cell
    environment: str
    metric: str
    between_blocks: Estimate
    """Common to all arms of a block: the machine's drift."""
    between_starts: Estimate
    """From start to start of this environment; with single runs it includes the variation within a start."""
    between_iterations: Estimate | None
    """Within a start; ``None``: there was one iteration."""
    iterations: float
    """Harmonic mean of the iterations per start."""
    best_iterations: int | None
    """m*: the number per start that gives the narrowest interval in a given time; ``None``: not known."""
    start_cost_s: float | None
    iteration_cost_s: float | None


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
