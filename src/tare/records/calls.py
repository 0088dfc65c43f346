# SPDX-License-Identifier: Apache-2.0
"""System calls of a workload's commands, counted in a spare run that is traced and never measured."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from tare.records.treated import Cell

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCounts:
    """Of all processes of the commands, with the few calls of the stopwatches that start them."""

    made: Mapping[str, int]
    """System call → how many ended. One that the C library answers by itself (vDSO) is no system call."""
    failed: Mapping[str, int]
    """System call → how many returned an error, or were interrupted; a call that never did has no entry."""
    traced_s: float
    """From the start of the commands to their end, or to the end of the window; tracing slows them down."""
    whole: bool = True
    """Whether the commands ended by themselves; else these are the calls of their first part, as far as it came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedCalls:
    """Of each workload in each environment, native among them: either counts or why there are none."""

    counts: Mapping[Cell, Mapping[str, CallCounts]]
    """Cell → environment → counts."""
    untraced: Mapping[Cell, Mapping[str, str]]
    """Cell → environment → why nothing could be counted."""

    def joined(self, later: "TracedCalls") -> "TracedCalls":
        """These and later ones; of what both have the later count."""
        return TracedCalls(
            counts=_joined(self.counts, later.counts), untraced=_joined(self.untraced, later.untraced)
        )


def _joined(
    earlier: Mapping[Cell, Mapping[str, _T]], later: Mapping[Cell, Mapping[str, _T]]
) -> Mapping[Cell, Mapping[str, _T]]:
    return {
        cell: {**earlier.get(cell, {}), **later.get(cell, {})} for cell in dict.fromkeys([*earlier, *later])
    }
