# SPDX-License-Identifier: Apache-2.0
"""At which level runs vary: from block to block, from start to start, from iteration to iteration (docs/method.md)."""

from dataclasses import dataclass

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
