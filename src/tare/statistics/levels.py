# SPDX-License-Identifier: Apache-2.0
"""The levels of a short series, found by change points, once its single spikes are taken out.

After Barrett and others, *Virtual machine warmup blows hot and cold*, OOPSLA 2017 (doi 10.1145/3133876), with a penalty
of our own for short series.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_LEAST_LEVEL = 3
"""Fewer iterations are a spike, but at the beginning, where one may be cold."""
_SPIKE = 5.0
"""Standard deviations of a value from its neighbours."""


def without_spikes(values: Sequence[float]) -> NDArray[np.float64]:
    """Put the median of its neighbourhood of five in the place of each value far from it; the beginning stays.

    A single slow run is no level (Hampel's filter; Davies and Gather, JASA 88 (1993) 782-792).
    """
    data = np.asarray(values, dtype=np.float64)
    found, limit = data.copy(), _SPIKE * _noise(data)
    for place in range(_LEAST_LEVEL, len(data)):
        middle = float(np.median(data[place - 2 : place + 3]))
        if abs(data[place] - middle) > limit:
            found[place] = middle
    return found


def levels(values: Sequence[float] | NDArray[np.float64]) -> list[int]:
    """Where each level begins, 0 first: the division with the least squared deviations and a penalty for each level.

    Optimal partitioning (Jackson and others, IEEE Signal Processing Letters 12 (2005) 105-108). The noise is that of
    the differences between neighbours, of which a change of level spoils but one.
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
    found, end = [], n
    while end > 0:
        found.append(last[end])
        end = last[end]
    return found[::-1]


def _noise(data: NDArray[np.float64]) -> float:
    """Standard deviation of one value, from the median absolute difference of neighbours; a floor keeps it above 0."""
    normal_quartile = 0.6745
    typical = float(np.median(np.abs(np.diff(data)))) / (normal_quartile * math.sqrt(2))
    return max(typical, 1e-9)


def _penalty(n: int) -> float:
    """Squared standard deviations per level: flat series of any length from 8 on are called flat in 95 % or more."""
    return 3.0 * math.log(n) * (1 + 20 / n)
