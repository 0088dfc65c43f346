# SPDX-License-Identifier: Apache-2.0
"""Order statistics and counts of all n(n+1)/2 Walsh averages without listing them: in n log^2 n, to the last digit.

The averages of ordered values rise along each row and each column of their table. Halving locates a bound in it, row by
row; an average of a given rank is located by bounds that each exclude a share of the rest (Johnson and Mizoguchi, SIAM
Journal on Computing 7 (1978) 147-153; Monahan, ACM Transactions on Mathematical Software 10 (1984) 265-270, for this
estimate).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Places = NDArray[np.int64]
_LISTED_PER_ROW = 8
"""Averages per value that are listed and sorted: that costs less than further bounds."""


def count_at_most(values: Sequence[float], bound: float) -> int:
    """How many of the averages are ``bound`` or less."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    return int(np.sum(_ends(ordered, bound) - np.arange(ordered.size)))


def ranked(values: Sequence[float], ranks: Sequence[int]) -> list[float]:
    """The averages of these ranks, the least having rank 0."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    return [_ranked(ordered, rank) for rank in ranks]


def _ranked(ordered: _Floats, rank: int) -> float:
    begins, ends = np.arange(ordered.size), np.full(ordered.size, ordered.size)
    before = 0
    while int(np.sum(ends - begins)) > _LISTED_PER_ROW * ordered.size:
        bound = _middle(ordered, begins, ends)
        least = np.clip(_ends(ordered, float(np.nextafter(bound, -np.inf))), begins, ends)
        most = np.clip(_ends(ordered, bound), begins, ends)
        if before + int(np.sum(least - begins)) > rank:
            ends = least
        elif (through := before + int(np.sum(most - begins))) > rank:
            return bound
        else:
            before, begins = through, most
    left = _listed(ordered, begins, ends)
    return float(np.partition(left, rank - before)[rank - before])


def _ends(ordered: _Floats, bound: float) -> _Places:
    """For each row the first column, from the diagonal on, whose average exceeds ``bound``."""
    low, high = np.arange(ordered.size), np.full(ordered.size, ordered.size)
    for _ in range(ordered.size.bit_length()):
        middle = np.minimum((low + high) // 2, ordered.size - 1)
        inside = ((ordered + ordered[middle]) / 2 <= bound) & (low < high)
        low, high = np.where(inside, middle + 1, low), np.where(inside, high, np.minimum(middle, high))
    return low


def _middle(ordered: _Floats, begins: _Places, ends: _Places) -> float:
    """The weighted median of the rows' middle averages: at least a quarter of the rest lies on either side."""
    rows = np.flatnonzero(ends > begins)
    middles = (ordered[rows] + ordered[(begins[rows] + ends[rows]) // 2]) / 2
    order = np.argsort(middles)
    weights = np.cumsum((ends - begins)[rows][order])
    return float(middles[order][np.searchsorted(weights, weights[-1] / 2)])


def _listed(ordered: _Floats, begins: _Places, ends: _Places) -> _Floats:
    """All averages between these columns of each row."""
    sizes = ends - begins
    rows = np.repeat(np.arange(ordered.size), sizes)
    columns = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes - begins, sizes)
    return np.asarray((ordered[rows] + ordered[columns]) / 2)
