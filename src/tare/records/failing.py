# SPDX-License-Identifier: Apache-2.0
"""How often a measured program failed."""

from dataclasses import dataclass

from tare.records.treated import Cell


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCount:
    """The runs of one arm, and how many of them failed."""

    cell: Cell
    environment: str
    runs: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRate:
    """How often the program failed in one environment, beside native."""

    cell: Cell
    environment: str
    runs: int
    failed: int
    low: float
    """Ends of the 95 % interval of the rate, by Clopper and Pearson."""
    high: float
    native_runs: int
    native_failed: int
    chance: float | None
    """Probability of rates that differ as much if both were equal, by Fisher's exact test, adjusted by Holm for all
    environments; ``None`` for native itself."""
    claim: str
    """In words."""
