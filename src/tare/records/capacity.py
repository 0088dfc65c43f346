# SPDX-License-Identifier: Apache-2.0
"""How many neighbours an instance bears: what ``tare capacity`` finds out (docs/capacity.md)."""

from collections.abc import Mapping
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
    lost: str = ""
    """Why there is no loss, such as what made its trials fail."""


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
        """The largest number shown to fit, below any that was shown not to; 0: none."""
        return fitting({step.neighbours: step.ruling for step in self.steps})

    @property
    def exceeds(self) -> int | None:
        """The smallest number shown not to fit; ``None``: none."""
        return exceeding({step.neighbours: step.ruling for step in self.steps})


def exceeding(rulings: Mapping[int, Ruling]) -> int | None:
    """The smallest number of neighbours shown not to fit; ``None``: none."""
    return min((count for count, ruling in rulings.items() if ruling is Ruling.EXCEEDED), default=None)


def fitting(rulings: Mapping[int, Ruling]) -> int:
    """The largest number shown to fit; 0: none.

    Numbers above one that was shown not to fit do not count: an answer by chance must not promise more.
    """
    least = exceeding(rulings)
    kept = (count for count, ruling in rulings.items() if ruling is Ruling.KEPT)
    return max((count for count in kept if least is None or count < least), default=0)
