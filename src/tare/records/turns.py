# SPDX-License-Identifier: Apache-2.0
"""How the arms of a block take turns, as planned and as done (docs/turns.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

CPU_TIME = " (CPU time)"
NET_OF_LOAD = " (net of load)"
"""Suffixes of a slice's metrics that exclude the time in which others had the processor."""


def is_without_load(metric: str) -> bool:
    """Whether a metric is a slice's own CPU time or net time, and so less than its wall time."""
    return metric.endswith((CPU_TIME, NET_OF_LOAD))


class Way(StrEnum):
    """How a trial's commands share the host with the other arms of their block."""

    WHOLE = "whole"
    """One trial after the other, each from start to end."""
    SLICES = "slices"
    """A resident program in each arm does one slice of fixed work per turn."""
    FREEZER = "freezer"
    """The commands run unchanged; all nodes but one are frozen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """How the arms of a block should take turns, where their workload and technologies allow it."""

    slice_s: float = 0.06
    """Length of a turn, including a slice's untimed first part."""
    rounds: int = 12
    """Slices of each arm for each start of its program."""
    processes: int = 2
    """Starts of the program in each node, so that the luck of one process averages out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnsTaken:
    """How one trial took its turns."""

    way: Way
    together: str
    """Identical for all trials that took turns with each other: only these are compared round by round."""
    arms: int
    """Number of arms that took turns."""
    turns: int
    """Number of turns of this trial."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Piece of the workload → units of work in each slice, the same in all arms."""
    busy_cpu_s: float | None = None
    """CPU time of the nodes during the trial's own turns; ``None``: not known."""
    waiting_cpu_s: float | None = None
    """CPU time of the nodes during the turns of others."""
    waiting_s: float | None = None
    """Total duration of the turns of others."""
    freeze_s: tuple[float, ...] = ()
    """Median and maximum time to freeze the nodes; empty where they were not frozen."""
