# SPDX-License-Identifier: Apache-2.0
"""Trials that a rule declared before the start takes out, whatever they measured (docs/signals.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tare.records.measured import Rule
from tare.records.treated import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclude:
    """From when on a trial is taken out; ``None``: never for this reason. Why that is the default: docs/signals.md."""

    foreign_load: float | None = None
    """Processors' worth of CPU time that others used of the trial's processors, in the mean over the run."""
    frequency_change: float | None = None
    """(Highest - lowest) / highest of the mean frequency of the trial's processors while the command ran."""
    temperature_c: float | None = None
    """The hottest that any thermal zone of the host was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusions:
    """How many trials of one environment in one cell were taken out, by rule; native's are of both its slots."""

    cell: Cell
    environment: str
    trials: int
    """All that were run."""
    excluded: Mapping[Rule, int] = field(default_factory=dict)
    """Only rules that took out any."""

    @property
    def share(self) -> float:
        """Of the trials that were run."""
        return sum(self.excluded.values()) / self.trials
