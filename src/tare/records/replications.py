# SPDX-License-Identifier: Apache-2.0
"""What a paper would have computed from the same runs, for replication alone: docs/method.md, "As the papers did"."""

from dataclasses import dataclass
from enum import StrEnum

from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


class Treatment(StrEnum):
    """The papers' own ways, by the short names of the presets."""

    B16 = "b16"
    B17 = "b17"
    R15 = "r15"
    L12 = "l12"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFigure:
    """One arm's figure as the paper took it, in the metric's own unit: rates stay rates."""

    value: float
    low: float | None
    """Of the interval, where the paper gives one."""
    high: float | None
    deviation: float | None
    """Standard deviation; ``None``: fewer than two runs are left."""
    variation: float | None
    """Coefficient of variation, where the paper gives one."""
    runs: int
    used: int
    """How many of the runs the value comes from."""


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
    """What the paper's figures would give, as a fraction of time; it has no interval."""
    ours: Estimate
    """Tare's typical overhead."""
