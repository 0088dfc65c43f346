# SPDX-License-Identifier: Apache-2.0
"""How busy others kept the host while a trial's commands ran, and who they were."""

from dataclasses import dataclass
from enum import StrEnum

BUSY_SHARE = 0.1
"""Part of a trial's processors; where others take more of them, its host was busy (docs/method.md)."""
BUSY_PROCESSORS = 0.5
"""Processors' worth; where other programs use as much, the host was busy for a trial of any size: a parallel program
waits for its slowest part."""


MOST_PROCESSORS = 1_000_000
"""No host has as many; sums over loads beyond it could leave the range of numbers."""


class Withheld(StrEnum):
    """Why nothing is claimed although there are figures."""

    BUSY = "busy"
    """The host was busy in too many of the blocks."""
    NOISE = "noise"
    """Native against itself differs by more than what would be claimed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BusyProgram:
    """Processes of one name and user that are not the trial's."""

    name: str
    user: str | None
    """``None``: the process was gone before anybody could ask."""
    pid: int | None
    """Of the busiest of them; ``None`` for those that nobody saw."""
    processors: float
    """How many processors they used, in the mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLoad:
    """What the trial's processors did for others while its commands ran, in processors' worth."""

    processors: int
    """How many the trial had."""
    foreign: float
    """What other programs used of them."""
    steal: float = 0.0
    """What a hypervisor below the host took of them."""
    throttled: float = 0.0
    """Part of the time in which a quota on the control group that Tare itself is in held it back."""
    others: tuple[BusyProgram, ...] = ()
    """The busiest ones first, where the host was busy; they may have run on other processors too."""

    def __post_init__(self) -> None:
        figures = self.foreign, self.steal, self.throttled
        if not 1 <= self.processors <= MOST_PROCESSORS or not all(
            abs(figure) <= MOST_PROCESSORS for figure in figures
        ):
            raise ValueError(
                f"a load of {max(figures):g} on {self.processors} processors is none of a host's"
            )

    @property
    def share(self) -> float:
        """Which part of its processors the trial could not have."""
        return max((self.foreign + self.steal) / self.processors, self.throttled)

    @property
    def busy(self) -> bool:
        return self.share > BUSY_SHARE or self.foreign >= BUSY_PROCESSORS


@dataclass(frozen=True, slots=True, kw_only=True)
class Busyness:
    """How busy the host was in a whole result."""

    blocks: int
    """Those of which the load is known."""
    busy: int
    """Those in which some trial's host was busy."""
    programs: tuple[str, ...]
    """The names of the busiest, over all of these blocks."""
    sentence: str
