# SPDX-License-Identifier: Apache-2.0
"""Results against each other: what changed from one to the next, what they have not in common, and a gate on that.

Two results have no common blocks, so nothing here is paired across results.
"""

from dataclasses import dataclass
from enum import StrEnum

from tare.records.looks import FailIf, Ruling
from tare.records.planned import NATIVE
from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


class ChangeWord(StrEnum):
    """What may be said about the change of a figure from one result to another, whatever the change comes from."""

    LARGER = "larger"
    SMALLER = "smaller"
    ALIKE = "alike"
    """Shown to lie within the margin."""
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultChange:
    """How one environment's overhead, or native's own time, differs between two results."""

    first: str
    """The folder of the result that is the reference."""
    later: str
    cell: Cell
    environment: str
    """``native`` for its own time, which no overhead contains."""
    metric: str
    unit: str
    primary: bool
    """Whether it is a claim on a primary metric of an environment; all others are exploratory."""
    before: Estimate
    """The overhead as a fraction; for native the value in ``unit``."""
    after: Estimate
    change: Estimate
    """Time per work later over the time before, relative to native's unless it is native's, minus 1; its interval
    holds together with those of its family, and the word is read from it."""
    points: Estimate | None
    """The change of the overhead as a fraction, with 1 plus the overhead before taken as known; ``None`` for native."""
    word: ChangeWord
    alone: ChangeWord
    """The word if this were the only claim."""
    p_value: float
    """Of "no difference", adjusted for all claims of its family."""
    claims: int
    """Number of claims in its family."""
    withheld: str | None
    """Why nothing is claimed although there may be an interval."""
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FactDifference:
    """A fact about host, image, version or campaign that is not the same in all results."""

    label: str
    values: tuple[str | None, ...]
    """One for each result, in their order; ``None``: not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incomparable:
    """Something that was measured in one result and cannot be compared with the other."""

    first: str
    later: str
    what: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultComparison:
    """Several results against the first of them."""

    results: tuple[str, ...]
    """Their folders."""
    changes: tuple[ResultChange, ...]
    differences: tuple[FactDifference, ...]
    incomparable: tuple[Incomparable, ...]

    @property
    def native_differs(self) -> tuple[str, ...]:
        """The later results in which native's own time is certainly another than in the first."""
        moved = {ChangeWord.LARGER, ChangeWord.SMALLER}
        own = (each for each in self.changes if each.environment == NATIVE and each.word in moved)
        return tuple(dict.fromkeys(each.later for each in own))


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPoint:
    """An overhead in one result of a history."""

    result: str
    started_utc: str
    overhead: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySeries:
    """One overhead in all results that have it, the earliest first."""

    cell: Cell
    environment: str
    metric: str
    primary: bool
    points: tuple[HistoryPoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """The answer to one condition on one overhead: whether the newest result is worse than the earlier ones."""

    condition: FailIf
    cell: Cell
    environment: str
    metric: str
    reference: str
    """The earlier result whose overhead is the median of the earlier ones on different days."""
    newest: str
    ruling: Ruling
    increase: Estimate
    """Of the overhead, as a fraction; its level leaves 95 % for all answers together. Against the mean of ``days``,
    with room for their differences; while days are missing, against ``reference`` alone and without that room."""
    sentence: str
    days: tuple[str, ...] = ()
    """The earlier results on different days, by their dates: of several within twelve hours the last; none of a busy
    host, and none without an interval."""
    missing_days: int = 0
    """How many more of them it takes; until then the answer is undecided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultHistory:
    """All results below a folder, the earliest first."""

    results: tuple[str, ...]
    series: tuple[HistorySeries, ...]
    regressions: tuple[Regression, ...]
    """The answers to ``--fail-if``."""
    incomparable: tuple[Incomparable, ...]
    unreadable: tuple[str, ...] = ()
    """A sentence for each result folder that could not be read."""
