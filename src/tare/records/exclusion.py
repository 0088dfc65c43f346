# SPDX-License-Identifier: Apache-2.0
"""Trials excluded by a rule declared before the start, whatever they measured (docs/signals.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tare.records.measured import Rule
from tare.records.treated import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclude:
    """Thresholds for excluding a trial; ``None``: never for this reason. Why that is the default: docs/signals.md."""

    foreign_load: float | None = None
    """Mean use of the trial's processors by others during the run, in processors' worth of CPU time."""
    frequency_change: float | None = None
    """(Highest - lowest) / highest of the mean frequency of the trial's processors while the command ran."""
    temperature_c: float | None = None
    """The highest temperature of any thermal zone of the host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusions:
    """Number of excluded trials of one environment in one cell, by rule; native's cover both its slots."""

    cell: Cell
    environment: str
    trials: int
    """All trials that ran."""
    excluded: Mapping[Rule, int] = field(default_factory=dict)
    """Only rules that excluded a trial."""

    @property
    def share(self) -> float:
        """The excluded fraction of the trials that ran."""
        return sum(self.excluded.values()) / self.trials
