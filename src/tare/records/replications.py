# SPDX-License-Identifier: Apache-2.0
"""What a paper would have computed from the same runs, only for replication: docs/method.md, "As the papers did"."""

from dataclasses import dataclass
from enum import StrEnum

from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


class Treatment(StrEnum):
    """The papers' own methods, by the short names of the presets."""

    B16 = "b16"
    B17 = "b17"
    R15 = "r15"
    L12 = "l12"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFigure:
    """One arm's figure as the paper computed it, in the metric's own unit: rates stay rates."""

    value: float
    low: float | None
    """Lower end of the interval, where the paper gives one."""
    high: float | None
    deviation: float | None
    """Standard deviation; ``None``: fewer than two runs remain."""
    variation: float | None
    """Coefficient of variation, where the paper gives one."""
    runs: int
    used: int
    """Number of runs behind the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication:
    """One metric of one environment beside native by a paper's treatment, and by Tare's."""

    treatment: Treatment
    cell: Cell
    environment: str
    metric: str
    unit: str
    primary: bool
    native: ArmFigure
    here: ArmFigure
    percent_of_native: float
    overhead: float
    """The overhead by the paper's figures, as a fraction of time; it has no interval."""
    ours: Estimate
    """Tare's typical overhead."""
