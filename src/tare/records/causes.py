# SPDX-License-Identifier: Apache-2.0
"""Why a claim is true, as far as known: suspected causes, confirmed causes, and the cure."""

from dataclasses import dataclass
from enum import IntEnum

from tare.records.attribution import Attributed
from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """A condition of an environment's trial that differs from native's."""

    cell: Cell
    environment: str
    label: str
    value: str
    native: str | None
    """``None``: native has no such label."""


class Strength(IntEnum):
    """Strength of the evidence for a known cause."""

    POSSIBLE = 1
    """The environment differs from native in a condition that the cause needs."""
    SEEN = 2
    """Its traces were counted, and native has fewer."""
    STRONG = 3
    """The counts explain at least half of the difference, or the mechanism was observed at work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """A known cause of one claim, suspected from counts and observations."""

    cell: Cell
    environment: str
    metric: str
    cause: str
    strength: Strength
    grounds: str
    """In words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The explanation of one claim."""

    cell: Cell
    environment: str
    metric: str
    primary: bool
    name: str
    """Name of the metric in the answers."""
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
    """In the user's words; for a gain, how native can have it too; empty where none is known."""
    change: str = ""
    """How the knob was turned, such as "without the filter"."""
    before: Estimate | None = None
    """The unchanged overhead in the intervention's own blocks; ``None`` without an intervention."""
    after: Estimate | None = None
    """The same with the knob turned."""
    further: tuple[str, ...] = ()
    """Other causes of the same claim, with the same standing, in words."""
    tried: tuple[str, ...] = ()
    """Knobs that were turned and are no cause of it, or a small part at most, in words."""
    undecided: tuple[str, ...] = ()
    """Knobs that were turned without a decision, in words."""
    is_absent: bool = False
    """Whether the difference did not reappear in the blocks of an intervention."""
    knob: str | None = None
    """The knob that confirmed it."""
