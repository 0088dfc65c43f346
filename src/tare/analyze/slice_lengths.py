# SPDX-License-Identifier: Apache-2.0
"""How long a slice should be on this host: what each length decides in the same time (docs/turns.md)."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tare.records import SliceLength

MULTIPLES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Of the measured pieces: 3 ms to 0.8 s."""
_FEWEST = 12
_QUANTILE = 1.96


def slice_lengths(
    pieces_s: Sequence[float],
    arms: int,
    time_s: float,
    turn_s: Callable[[float], float] = lambda length_s: length_s,
) -> tuple[SliceLength, ...]:
    """What slices of each length would decide, from a native program's consecutive pieces of equal work.

    Neighbouring pieces are joined to slices of 1, 2, 4, ... pieces; slices that are 1 to ``arms`` - 1 apart are
    compared like arms that take turns. The 95 % half-width is for ``time_s`` per arm, in turns that take ``turn_s`` of
    the slice's length; pairs count as independent. Lengths with fewer than 12 slices are left out.
    """
    pieces = np.asarray(pieces_s, dtype=np.float64)
    lengths = (_of_length(pieces, multiple, arms, time_s, turn_s) for multiple in MULTIPLES)
    return tuple(each for each in lengths if each is not None)


def _of_length(
    pieces: NDArray[np.float64],
    multiple: int,
    arms: int,
    time_s: float,
    turn_s: Callable[[float], float],
) -> SliceLength | None:
    count = pieces.size // multiple
    if count < max(_FEWEST, arms):
        return None
    slices = pieces[: count * multiple].reshape(count, multiple).sum(axis=1)
    logs = np.log(slices)
    variances = [float(np.mean((logs[apart:] - logs[:-apart]) ** 2)) for apart in range(1, max(2, arms))]
    deviation = math.sqrt(sum(variances) / len(variances))
    length_s = float(np.median(slices))
    turns = time_s / turn_s(length_s)
    return SliceLength(
        length_s=length_s, deviation=deviation, half_width=_QUANTILE * deviation / math.sqrt(turns)
    )
