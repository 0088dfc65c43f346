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
    """Of each iteration in it, in order: ln(time per unit of work)."""


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
    """Variances of ln(time per unit of work), each with its interval; the root is about a coefficient of variation."""

    cell: Cell
    environment: str
    metric: str
    between_blocks: Estimate
    """What all arms of a block share: the machine's drift."""
    between_starts: Estimate
    """From start to start of this environment; of single runs it holds what varies within a start too."""
    between_iterations: Estimate | None
    """Within a start; ``None``: there was one iteration."""
    iterations: float
    """How many each start has, as the harmonic mean."""
    best_iterations: int | None
    """m*: how many per start give the narrowest interval in a given time; ``None``: not known."""
    start_cost_s: float | None
    iteration_cost_s: float | None
