# SPDX-License-Identifier: Apache-2.0
"""``[turns]`` of a campaign file: how the arms of a block take turns."""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from tare.plan.blocks import StrictTable
from tare.plan.problems import shown
from tare.plan.written import duration_s
from tare.records import Turns

_SHORTEST_SLICE_S, _LONGEST_SLICE_S = 0.002, 1.0
_FEWEST_ROUNDS, _MOST = 3, 1000
MOST_RUNS = 10
"""Maximum for an unmodified program so short that it runs several times in each block."""
ROUNDS_TOGETHER = 4
"""Rounds of one piece before the next piece; a turn that does not count leads in to them."""
_WARMED = 1.2
"""Total over timed length: a slice's first part is not timed."""
_WAY_S = 0.0015
"""The round trip to the program."""


def turn_s(slice_s: float) -> float:
    """Duration of a turn whose timed part takes ``slice_s``."""
    return slice_s * _WARMED + _WAY_S


def with_slices_of(turns: Turns, slice_s: float) -> Turns:
    """Change the slices' length, in whole milliseconds, and keep the total time of the rounds."""
    length_s = min(max(round(slice_s, 3), _SHORTEST_SLICE_S), _LONGEST_SLICE_S)
    rounds = round(turns.rounds * turn_s(turns.slice_s) / turn_s(length_s))
    return replace(turns, slice_s=length_s, rounds=min(max(rounds, _FEWEST_ROUNDS), _MOST))


def _slice_s(value: object) -> float | None:
    """Check a slice: shorter than warm-up and round trip, or longer than bursts of noise, decides no more.

    ``None``: Tare chooses the length.
    """
    if value == "auto":
        return None
    slice_s = duration_s(value)
    if not _SHORTEST_SLICE_S <= slice_s <= _LONGEST_SLICE_S:
        raise ValueError(f"{shown(value)} is not from 2 ms to 1 s")
    return slice_s


class TurnsTable(StrictTable):
    """``[turns]``: how the arms of a block take turns (docs/turns.md)."""

    way: Literal["auto", "whole"] = "auto"
    slice: Annotated[float | None, BeforeValidator(_slice_s)] = Turns().slice_s
    rounds: int = Field(default=Turns().rounds, ge=_FEWEST_ROUNDS, le=_MOST)
    processes: int = Field(default=Turns().processes, ge=1, le=_MOST)

    @property
    def turns(self) -> Turns | None:
        """``None``: every trial runs whole."""
        if self.way == "whole":
            return None
        slice_s = Turns().slice_s if self.slice is None else self.slice
        return Turns(slice_s=slice_s, rounds=self.rounds, processes=self.processes)

    @property
    def auto_slice(self) -> bool:
        """Whether a pilot is to choose the slices' length."""
        return self.way == "auto" and self.slice is None
