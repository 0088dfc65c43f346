# SPDX-License-Identifier: Apache-2.0
"""One figure for several workloads, and how an arm's runs spread: docs/method.md."""

from dataclasses import dataclass

from tare.records.measured import Direction
from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class AcrossWorkloads:
    """The geometric mean of an environment's overheads over the workloads of one layout."""

    environment: str
    layout: str
    workloads: tuple[str, ...]
    overhead: Estimate
    """As a fraction, over the blocks that are complete for all the workloads; n counts blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSpread:
    """How one arm's runs of one metric spread, native included; in the metric's unit, a description without a claim."""

    cell: Cell
    environment: str
    metric: str
    unit: str
    direction: Direction
    primary: bool
    p50: Estimate
    """Of time per unit of work, with the exact interval of a median."""
    p95: float | None
    """The time per unit of work that 95 % of the runs do not exceed, so of a rate a low one; ``None`` below 20 runs."""
    slowest: float
    n: int
