# SPDX-License-Identifier: Apache-2.0
"""How many neighbours an instance bears: what ``tare capacity`` finds out (docs/capacity.md)."""

from dataclasses import dataclass

from tare.records.looks import Ruling
from tare.statistics.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityStep:
    """One number of neighbours, as far as it was decided."""

    neighbours: int
    loss: Estimate | None
    """Time for the same work with them against alone, minus 1, at the level of all answers together; without ends where
    there are too few blocks. ``None``: no block is whole."""
    ruling: Ruling
    """Whether the loss exceeds the limit."""
    withheld: bool = False
    """Whether the host was too busy for any decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """The answer for one environment, native included."""

    environment: str
    limit: float
    """Tolerated loss, as a fraction."""
    most: int
    """The largest number of neighbours that the search permits."""
    steps: tuple[CapacityStep, ...]
    """By rising number."""
    sentence: str = ""
    """The answer in words, without the environment."""

    @property
    def fits(self) -> int:
        """The largest number shown to fit; 0: none."""
        return max((step.neighbours for step in self.steps if step.ruling is Ruling.KEPT), default=0)

    @property
    def exceeds(self) -> int | None:
        """The smallest number shown not to fit; ``None``: none."""
        return min((step.neighbours for step in self.steps if step.ruling is Ruling.EXCEEDED), default=None)
