# SPDX-License-Identifier: Apache-2.0
"""What an environment costs at each level of a factor, and whether that depends on the level (docs/factors.md)."""

from dataclasses import dataclass
from enum import StrEnum

from tare.records.busy import Withheld
from tare.records.comparisons import Family
from tare.records.measured import Direction
from tare.records.planned import Level
from tare.records.treated import FactorCells
from tare.statistics.estimate import Estimate


class DependenceWord(StrEnum):
    """Whether an environment's overhead depends on a factor."""

    DEPENDS = "depends on it"
    NOT_SHOWN = "no dependence shown"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelOverhead:
    """An environment's overhead at one level, in the blocks that all levels have."""

    level: Level
    overhead: Estimate
    """Mean, as a fraction, with an interval that holds for all levels together."""
    beyond_first: Estimate | None
    """How much more time than at the first level, each against native at its level; a fraction, with an interval that
    holds for all levels together. ``None``: the first level itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """One metric of one environment over the levels of a factor."""

    cells: FactorCells
    environment: str
    metric: str
    unit: str
    direction: Direction
    primary: bool
    levels: tuple[LevelOverhead, ...]
    """In the campaign's order."""
    n: int
    """Blocks that are complete at all levels."""
    word: DependenceWord
    claim: str
    """Without the environment."""
    p: float | None = None
    """Of "the overhead is the same at all levels", doubled with each addition of blocks to a finished result; ``None``:
    too few blocks."""
    adjusted_p: float | None = None
    """Among all dependences of its family."""
    withheld: Withheld | None = None
    """Why nothing is claimed: as in a verdict at one of the levels."""

    @property
    def family(self) -> Family:
        """Which dependences are corrected together."""
        return Family.PRIMARY if self.primary else Family.EXPLORATORY

    @property
    def sentence(self) -> str:
        """The claim with its environment."""
        return f"{self.environment}: {self.claim}"
