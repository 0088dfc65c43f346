# SPDX-License-Identifier: Apache-2.0
"""System calls of a workload's commands, counted in an extra run that is traced and never measured."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from tare.records.treated import Cell

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCounts:
    """Calls of all processes of the commands, including a few by the stopwatches that start them."""

    made: Mapping[str, int]
    """System call → number completed. A call that the C library answers itself (vDSO) is no system call."""
    failed: Mapping[str, int]
    """System call → number that returned an error or were interrupted; no entry where there were none."""
    traced_s: float
    """From the start of the commands to their end, or to the end of the window; tracing slows them down."""
    whole: bool = True
    """Whether the commands ended by themselves; else these are only the calls of their first part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedCalls:
    """For each workload in each environment, native included: counts, or why there are none."""

    counts: Mapping[Cell, Mapping[str, CallCounts]]
    """Cell → environment → counts."""
    untraced: Mapping[Cell, Mapping[str, str]]
    """Cell → environment → why nothing could be counted."""

    def joined(self, later: "TracedCalls") -> "TracedCalls":
        """Merge with later calls; where both have an entry, the later one counts."""
        return TracedCalls(
            counts=_joined(self.counts, later.counts), untraced=_joined(self.untraced, later.untraced)
        )


def _joined(
    earlier: Mapping[Cell, Mapping[str, _T]], later: Mapping[Cell, Mapping[str, _T]]
) -> Mapping[Cell, Mapping[str, _T]]:
    return {
        cell: {**earlier.get(cell, {}), **later.get(cell, {})} for cell in dict.fromkeys([*earlier, *later])
    }
