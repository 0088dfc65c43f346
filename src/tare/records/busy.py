# SPDX-License-Identifier: Apache-2.0
"""How busy others kept the host while a trial's commands ran, and who they were."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

BUSY_SHARE = 0.1
"""Fraction of a trial's processors; if others take more, the host was busy (docs/method.md)."""
BUSY_PROCESSORS = 0.5
"""Processors' worth; if other programs use as much, the host was busy for a trial of any size: a parallel program
waits for its slowest part."""


MOST_PROCESSORS = 1_000_000
"""No host has as many; sums over loads beyond it could leave the range of numbers."""


class Withheld(StrEnum):
    """Why nothing is claimed although there are figures."""

    BUSY = "busy"
    """Too few blocks without a busy host are left."""
    NOISE = "noise"
    """Native against itself differs by more than what would be claimed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BusyProgram:
    """Processes of one name and user that are not the trial's."""

    name: str
    user: str | None
    """``None``: the process ended before its user could be read."""
    pid: int | None
    """PID of the busiest process; ``None`` for unseen processes."""
    processors: float
    """Mean number of processors they used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLoad:
    """Use of the trial's processors by others while its commands ran, in processors' worth."""

    processors: int
    """Number of processors of the trial."""
    foreign: float
    """Share used by other programs."""
    steal: float = 0.0
    """Share taken by a hypervisor below the host."""
    throttled: float = 0.0
    """Fraction of the time in which a quota on Tare's own control group throttled it."""
    others: tuple[BusyProgram, ...] = ()
    """The busiest first, where the host was busy; they may have run on other processors too."""

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
        """The fraction of its processors that the trial could not use."""
        return max((self.foreign + self.steal) / self.processors, self.throttled)

    @property
    def busy(self) -> bool:
        return self.share > BUSY_SHARE or self.foreign >= BUSY_PROCESSORS


def busiest(loads: Iterable[HostLoad | None]) -> HostLoad | None:
    """The load that took the largest part of its processors, a busy one first; ``None`` where none is known."""
    known = [load for load in loads if load is not None]
    return max(known, key=lambda load: (load.busy, load.share), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class BusyBlocks:
    """The complete blocks in which some trial's host was busy."""

    blocks: tuple[int, ...] = ()
    loads: tuple[HostLoad, ...] = ()
    """Of the busiest trial of each."""
    left_out: bool = True
    """``False``: too few others are left, so these count, and nothing may be claimed."""

    @property
    def gone(self) -> tuple[int, ...]:
        """The blocks that do not count."""
        return self.blocks if self.left_out else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadEffect:
    """What the load of others alone could make of a difference (docs/method.md, "A busy machine")."""

    used: float
    """Processors' worth that others, or a quota, took from the arm that seems slower in its busiest block."""
    processors: int
    """Processors of its trials."""
    most: float
    """How much nearer to 0 the interval would end, as a fraction of the arm's time, if the load cost this arm alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Busyness:
    """How busy the host was in a whole result."""

    blocks: int
    """Blocks with a known load."""
    busy: int
    """Blocks in which the host was busy during some trial."""
    programs: tuple[str, ...]
    """Names of the busiest programs, over all of these blocks."""
    sentence: str
