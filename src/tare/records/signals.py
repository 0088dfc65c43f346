# SPDX-License-Identifier: Apache-2.0
"""Counts taken beside a run that may explain its loss (docs/signals.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Scope(StrEnum):
    """Where a signal was read."""

    NODE = "node"
    """In the nodes, or from their control groups: what happened to this trial."""
    HOST = "host"
    """On the whole host: what happened beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One count over the measured span of a trial, from GO to the last DONE, all nodes together."""

    name: str
    """A name from the list of signals (``signals``), such as ``throttled_s``."""
    unit: str
    """``s``, ``byte``, ``J``, ``Hz``, ``°C``, or ``1`` for a count."""
    scope: Scope
    value: float
    lost_time: bool = False
    """Whether its seconds are the command's own waiting time, comparable with its loss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSignals:
    """What was counted on one host of the campaign's list, and for the trial's nodes there."""

    processors: int
    """Number of the trial's processors on it."""
    span_s: float
    """From the reading before GO to that after the last DONE."""
    signals: tuple[Signal, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    """Name → why."""
