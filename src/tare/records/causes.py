# SPDX-License-Identifier: Apache-2.0
"""Why a claim is true, as far as is known: what is suspected, what was confirmed, and the cure."""

from dataclasses import dataclass
from enum import IntEnum

from tare.records.attribution import Attributed
from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """What a trial of an environment ran under, where native ran under something else."""

    cell: Cell
    environment: str
    label: str
    value: str
    native: str | None
    """``None``: native has no such label."""


class Strength(IntEnum):
    """How much speaks for a known cause."""

    POSSIBLE = 1
    """The environment differs from native in what the cause needs."""
    SEEN = 2
    """What it leaves behind was counted, and native has not as much of it."""
    STRONG = 3
    """What was counted accounts for half of the difference or more, or the mechanism was seen at work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """A known cause of one claim, by what was counted and seen."""

    cell: Cell
    environment: str
    metric: str
    cause: str
    strength: Strength
    grounds: str
    """In words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What is said of why one claim is true."""

    cell: Cell
    environment: str
    metric: str
    primary: bool
    name: str
    """What the answers call the metric."""
    claim: str
    """Such as "25 to 28 % slower"."""
    is_gain: bool
    standing: Attributed
    """``CAUSE``: confirmed by an intervention; ``CANDIDATE``: suspected."""
    cause: str | None = None
    """Name of the known cause, or of the knob that was turned by hand."""
    title: str = ""
    """The cause in words."""
    grounds: str = ""
    """Why it is suspected."""
    cure: str = ""
    """In the user's words; of a gain, how native has it too; empty where none is known."""
    change: str = ""
    """How the knob was turned, such as "without the filter"."""
    before: Estimate | None = None
    """The overhead in the intervention's own blocks, as it is; ``None`` where none was made."""
    after: Estimate | None = None
    """The same with the knob turned."""
    further: tuple[str, ...] = ()
    """Other causes of the same claim, confirmed or suspected as this one is, in words."""
    tried: tuple[str, ...] = ()
    """What was turned and is no cause of it, or a small part at most, in words."""
    undecided: tuple[str, ...] = ()
    """What was turned without a decision, in words."""
    is_absent: bool = False
    """Whether the difference was not seen again in the blocks of an intervention."""
    knob: str | None = None
    """The knob that confirmed it."""
