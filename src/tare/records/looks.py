# SPDX-License-Identifier: Apache-2.0
"""Looks at a running campaign: what each one showed, why an arm stopped, and what ``--fail-if`` decided."""

from dataclasses import dataclass
from enum import StrEnum

from tare.records.busy import LoadEffect
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
    """What one metric showed after a number of blocks."""

    blocks: int
    """Blocks run so far; the look includes the blocks with a smaller number."""
    n: int
    """Number of these blocks that are complete for this metric."""
    spent: float
    """Share of the permitted error, 5 % in all, that this look and those before it may use up; above 1 where blocks
    were added to a finished result."""
    level: float
    """Level of this look's interval: 1 minus the exact two-sided error probability of this look alone."""
    estimate: Estimate
    """The repeated interval: the intervals of all looks so far hold jointly at its level, 95 % without added blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailIf:
    """The question of ``--fail-if``: whether an overhead, or a loss by company, exceeds a threshold."""

    text: str
    """As the user wrote it."""
    threshold: float
    """As a fraction."""
    environment: str | None = None
    """``None``: all."""
    metric: str | None = None
    """``None``: all primary metrics of each workload."""
    loss: bool = False
    """Whether it asks about the loss of a sharing experiment, not about an overhead."""


class Ruling(StrEnum):
    """What the interval shows."""

    EXCEEDED = "exceeded"
    KEPT = "not exceeded"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The result of one condition for one environment in one cell."""

    condition: FailIf
    cell: Cell | None
    """``None``: the environment was not measured at all."""
    environment: str
    metric: str | None
    """``None``: no metric of the condition was measured."""
    ruling: Ruling
    interval: Estimate | None
    """By the decision boundary, at the last look; ``None`` before the first, or without a value."""
    sentence: str
    released: bool = False
    """As in ``Verdict``."""
    load: LoadEffect | None = None
    """As in ``Verdict``, for the threshold."""


USUAL_MARGIN = 0.01
"""Default of ``Design.margin``: overheads within plus or minus this fraction count as none."""
USUAL_PRECISE_ABSOLUTE, USUAL_PRECISE_RELATIVE = 0.01, 0.2
"""Defaults of ``Design.precise_absolute`` and ``precise_relative``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The rules, declared before the start, that decide when an arm stops."""

    looks: tuple[int, ...]
    """Block counts at which a look takes place, ascending; the last is the total."""
    margin: float
    """Overheads within plus or minus this fraction count as none."""
    precise_absolute: float = USUAL_PRECISE_ABSOLUTE
    """Half-width of the interval that is precise enough, as a fraction..."""
    precise_relative: float = USUAL_PRECISE_RELATIVE
    """...or this fraction of the overhead itself, if that is more."""
    fail_if: tuple[FailIf, ...] = ()
    added_from: tuple[int, ...] = ()
    """Block counts at which the result was finished and got more blocks (``tare run --more``); each is a look."""
    whole: frozenset[Cell] = frozenset()
    """Cells that never stop early: cells of sharing experiments, which are compared with each other."""

    @property
    def total(self) -> int:
        """Blocks planned in all before the start."""
        return self.added_from[0] if self.added_from else self.looks[-1]

    def looks_of(self, cell: Cell) -> tuple[int, ...]:
        """The looks at this cell."""
        return tuple(look for look in self.looks if look >= self.total) if cell in self.whole else self.looks


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The looks that an arm has passed, by its workload's primary metrics; the other metrics follow."""

    looks: tuple[int, ...]
    """Looks reached, as block counts; empty before the first."""
    total: int
    """Blocks planned in all before the start."""
    stop: Stop | None = None
    """``None``: it goes on."""
    added_from: tuple[int, ...] = ()
    """As in ``Design``."""

    @property
    def final(self) -> bool:
        """Whether the last look came because nothing was left to run, and may spend all remaining error."""
        return self.stop in {Stop.OUT_OF_BLOCKS, Stop.OUT_OF_BUDGET}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """An arm that runs no further blocks."""

    cell: Cell
    environment: str
    blocks: int
    """Number of blocks it ran: it skips block number ``blocks`` and all later ones."""
    stop: Stop
