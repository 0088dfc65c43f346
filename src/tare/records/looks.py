# SPDX-License-Identifier: Apache-2.0
"""Looks at a running campaign: what was seen at each, why an arm stopped, and what ``--fail-if`` decided."""

from dataclasses import dataclass
from enum import StrEnum

from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


class Stop(StrEnum):
    """Why no further blocks of an arm (an environment in a cell) are run."""

    PRECISE = "precise enough"
    EQUIVALENT = "within the margin"
    DECIDED = "decided for --fail-if"
    OUT_OF_BLOCKS = "all blocks are done"
    OUT_OF_BUDGET = "the time budget ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What was seen of one metric after so many blocks."""

    blocks: int
    """Blocks that had been run; the look takes in those with a smaller number."""
    n: int
    """Those of them that are complete for this metric."""
    spent: float
    """Share of the permitted error, 5 % in all, that this look and those before it may use up."""
    level: float
    """Of this look's interval: 1 less the exact two-sided chance of error of this look alone."""
    estimate: Estimate
    """The repeated interval: those of all looks hold together at 95 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailIf:
    """The question of ``--fail-if``: whether an overhead exceeds a threshold."""

    text: str
    """As the user wrote it."""
    threshold: float
    """As a fraction."""
    environment: str | None = None
    """``None``: all."""
    metric: str | None = None
    """``None``: all primary metrics of each workload."""


class Ruling(StrEnum):
    """What the interval shows."""

    EXCEEDED = "exceeded"
    KEPT = "not exceeded"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer of one condition for one environment in one cell."""

    condition: FailIf
    cell: Cell | None
    """``None``: the environment was not measured at all."""
    environment: str
    metric: str | None
    """``None``: none of the condition was measured."""
    ruling: Ruling
    interval: Estimate | None
    """By the boundary of decisions, at the last look; ``None`` before the first, or without a value."""
    sentence: str


USUAL_MARGIN = 0.01
"""Overheads within plus or minus this fraction count as none, where a campaign says nothing else."""
USUAL_PRECISE_ABSOLUTE, USUAL_PRECISE_RELATIVE = 0.01, 0.2
"""``Design.precise_absolute`` and ``precise_relative``, where a campaign says nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """All that was declared before the start and decides when an arm stops."""

    looks: tuple[int, ...]
    """How many blocks each look comes after, ascending; the last is the number of all blocks."""
    margin: float
    """Overheads within plus or minus this fraction count as none."""
    precise_absolute: float = USUAL_PRECISE_ABSOLUTE
    """Half-width of the interval that is precise enough, as a fraction..."""
    precise_relative: float = USUAL_PRECISE_RELATIVE
    """...or, if that is more, this part of the overhead itself."""
    fail_if: tuple[FailIf, ...] = ()
    whole: frozenset[Cell] = frozenset()
    """Cells that are never stopped early: those of sharing experiments, which are compared with each other."""

    def looks_of(self, cell: Cell) -> tuple[int, ...]:
        """When is looked at this cell."""
        return self.looks[-1:] if cell in self.whole else self.looks


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The looks that an arm has passed, by its workload's primary metrics; the others follow."""

    looks: tuple[int, ...]
    """Those reached, as numbers of blocks; empty before the first."""
    total: int
    """Blocks planned in all."""
    stop: Stop | None = None
    """``None``: it goes on."""

    @property
    def final(self) -> bool:
        """Whether the last look came because there was nothing left to run, and may use up all permitted error."""
        return self.stop in {Stop.OUT_OF_BLOCKS, Stop.OUT_OF_BUDGET}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """An arm that runs no further blocks."""

    cell: Cell
    environment: str
    blocks: int
    """How many it ran: it leaves block number ``blocks`` and all that follow."""
    stop: Stop
