# SPDX-License-Identifier: Apache-2.0
"""Totals of an arm's turns between thaws and freezes. Times are the host's CLOCK_MONOTONIC_RAW."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

MOST_IDLE_SHARE = 0.2
"""Fraction of the thawed time; a program that sleeps or waits longer is timed whole, as it goes on waiting for the
clock or a device while it is frozen."""
_NS = 1e-9
_LEAST_JUDGED_S = 0.02
"""Below it the round trip is a large part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """From one thaw of an arm's nodes to the next freeze."""

    thaw_asked_ns: int
    thawed_ns: int
    freeze_asked_ns: int
    frozen_ns: int
    cpu_s: float | None
    """CPU time of the nodes' groups in it; ``None`` if a group does not report it."""
    waited_s: float = 0.0
    """How long others kept their threads waiting for a processor."""
    stolen_s: float = 0.0
    """Time that a hypervisor took from the host's processors meanwhile, in steps of a timer tick."""

    @property
    def counted_s(self) -> float:
        """From the thaw's completion to the freeze's request."""
        return (self.freeze_asked_ns - self.thawed_ns) * _NS


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long freezing took, which does not count as the program's time."""

    median_s: float
    worst_s: float


def freezing(turns: Sequence[Turn]) -> Latency | None:
    """``None`` without a turn."""
    return _latency([(turn.frozen_ns - turn.freeze_asked_ns) * _NS for turn in turns])


def _latency(spans_s: Sequence[float]) -> Latency | None:
    if not spans_s:
        return None
    return Latency(median_s=statistics.median(spans_s), worst_s=max(spans_s))


def thawed_s(turns: Sequence[Turn], start_ns: float, end_ns: float) -> float:
    """The counted part of the time from start to end."""
    return (
        sum(max(0.0, min(turn.freeze_asked_ns, end_ns) - max(turn.thawed_ns, start_ns)) for turn in turns)
        * _NS
    )


def cpu_s(turns: Sequence[Turn]) -> float | None:
    """CPU time of the nodes' groups in all turns; ``None`` if any is not known."""
    known = [turn.cpu_s for turn in turns if turn.cpu_s is not None]
    return sum(known) if known and len(known) == len(turns) else None


def idle_share(turns: Sequence[Turn]) -> float | None:
    """Lower bound of the fraction of counted time in which the arm used no processor at all; ``None``: not known.

    Each turn is judged separately: a program that computes on one processor and later on two is never idle. Neither is
    one that waits for a processor in use by others, or by other machines of the same hypervisor.
    """
    judged_s = sum(turn.counted_s for turn in turns)
    if cpu_s(turns) is None or judged_s < _LEAST_JUDGED_S:
        return None
    idle_s = (max(0.0, turn.counted_s - (turn.cpu_s or 0.0) - turn.waited_s) for turn in turns)
    return max(0.0, sum(idle_s) - sum(turn.stolen_s for turn in turns)) / judged_s


def unsuited(turns: Sequence[Turn]) -> str | None:
    """Why a program should not take turns, as a sentence with the figure; ``None``: no objection."""
    share = idle_share(turns)
    if share is None or share <= MOST_IDLE_SHARE:
        return None
    return (
        f"it used no processor in {share:.0%} of its time, more than {MOST_IDLE_SHARE:.0%}: what sleeps or waits does "
        "so while it is frozen, too, so that it is timed whole"
    )
