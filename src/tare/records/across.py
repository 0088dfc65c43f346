# SPDX-License-Identifier: Apache-2.0
"""One figure for several workloads, and the spread of an arm's runs: docs/method.md."""

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
    """Fraction, over the blocks that are complete for all the workloads; n counts blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSpread:
    """Spread of one arm's runs of one metric, native included, in the metric's unit; descriptive, without a claim."""

    cell: Cell
    environment: str
    metric: str
    unit: str
    direction: Direction
    primary: bool
    p50: Estimate
    """Median time per unit of work, with the exact interval of a median."""
    p95: float | None
    """Time per unit of work that 95 % of the runs do not exceed (for a rate: a low value); ``None`` below 20 runs."""
    slowest: float
    n: int
