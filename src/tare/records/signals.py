# SPDX-License-Identifier: Apache-2.0
"""What is counted beside a run and may explain its loss (docs/signals.md)."""

from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """Where a signal was read."""

    NODE = "node"
    """In the nodes, or of their control groups: what happened to this trial."""
    HOST = "host"
    """Of the whole host: what happened beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """How much of it came over the measured span of a trial, from GO to the last DONE, all nodes together."""

    name: str
    """One of the list of signals (``measure/signals``), such as ``throttled_s``."""
    unit: str
    """``s``, ``byte``, ``J``, ``Hz``, ``°C``, or ``1`` for a count."""
    scope: Scope
    value: float
    lost_time: bool = False
    """Whether its seconds are time that the command itself waited, so that they can be set against its loss."""
