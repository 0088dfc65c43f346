# SPDX-License-Identifier: Apache-2.0
"""The levels of a short series, by change points, after removing single spikes.

After Barrett and others, *Virtual machine warmup blows hot and cold*, OOPSLA 2017 (doi 10.1145/3133876), with our own
penalty for short series.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_LEAST_LEVEL = 3
"""Fewer iterations are a spike, except at the start, where one may be cold."""
_SPIKE = 5.0
"""Standard deviations of a value from its neighbours."""


def without_spikes(values: Sequence[float]) -> NDArray[np.float64]:
    """Replace each value far from the median of its neighbourhood of five by this median, except at the start.

    A single slow run is not a level (Hampel's filter; Davies and Gather, JASA 88 (1993) 782-792).
    """
    data = np.asarray(values, dtype=np.float64)
    smoothed, limit = data.copy(), _SPIKE * _noise(data)
    for place in range(_LEAST_LEVEL, len(data)):
        middle = float(np.median(data[place - 2 : place + 3]))
        if abs(data[place] - middle) > limit:
            smoothed[place] = middle
    return smoothed


def levels(values: Sequence[float] | NDArray[np.float64]) -> list[int]:
    """Where each level begins, 0 first: the division with the least squared deviations plus a penalty per level.

    Optimal partitioning (Jackson and others, IEEE Signal Processing Letters 12 (2005) 105-108). The noise is estimated
    from the differences between neighbours: a change of level spoils only one of them.
    """
    n = len(values)
    data = np.asarray(values, dtype=np.float64)
    penalty = _penalty(n) * _noise(data) ** 2
    sums, squares = np.concatenate([[0.0], np.cumsum(data)]), np.concatenate([[0.0], np.cumsum(data**2)])
    best, last = [0.0], [0]
    for end in range(1, n + 1):
        begins = np.concatenate([[0], np.arange(1, end - _LEAST_LEVEL + 1)])
        costs = squares[end] - squares[begins] - (sums[end] - sums[begins]) ** 2 / (end - begins)
        totals = np.asarray(best)[begins] + costs + penalty
        chosen = int(np.argmin(totals))
        last.append(int(begins[chosen]))
        best.append(float(totals[chosen]))
    starts, end = [], n
    while end > 0:
        starts.append(last[end])
        end = last[end]
    return starts[::-1]


def _noise(data: NDArray[np.float64]) -> float:
    """Standard deviation of one value, from the median absolute difference of neighbours; a floor keeps it above 0."""
    normal_quartile = 0.6745
    typical = float(np.median(np.abs(np.diff(data)))) / (normal_quartile * math.sqrt(2))
    return max(typical, 1e-9)


def _penalty(n: int) -> float:
    """Penalty per level, in squared standard deviations: at least 95 % of flat series of 8 values or more stay flat."""
    return 3.0 * math.log(n) * (1 + 20 / n)
