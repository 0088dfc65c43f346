# SPDX-License-Identifier: Apache-2.0
"""The Hodges-Lehmann estimate and its exact interval from Wilcoxon's signed-rank distribution.

Wilcoxon, Biometrics Bulletin 1 (1945) 80-83; Hodges and Lehmann, Annals of Mathematical Statistics 34
(1963) 598-611; the interval from ordered Walsh averages: Hollander, Wolfe and Chicken, Nonparametric
Statistical Methods, chapter 3.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tare.statistics import tails
from tare.statistics.distributions import normal_quantile
from tare.statistics.estimate import LEVEL, Estimate

MOST_LISTED = 200
"""Values up to which all signs of the ranks are counted and all Walsh averages are listed. For more, a chance is an
integral (``tails``) and an average is found by its rank (``ranked_walsh``), because counting takes n^3 steps."""
_BESIDE = 4
"""Times ``n``: distance within which the normal distribution's critical value is to the exact one."""
_Floats = NDArray[np.float64]
_Places = NDArray[np.int64]
_LISTED_PER_ROW = 8
"""Averages per value that are listed and sorted: that costs less than further bounds."""


@lru_cache(maxsize=64)
def null_distribution(n: int) -> NDArray[np.float64]:
    """P(T = t), t = 0 .. n(n+1)/2, of the signed-rank statistic of ``n`` values symmetric about 0.

    T is the sum of the ranks 1 .. n whose fair coin shows heads, so adding a rank halves the
    distribution and adds it to its own shift. No approximation; exact in floating point up to n = 52, as
    all probabilities are multiples of 2^-n, and beyond that to a relative 1e-13.
    """
    probability = np.zeros(n * (n + 1) // 2 + 1)
    probability[0] = 1.0
    for rank in range(1, n + 1):
        highest = rank * (rank + 1) // 2
        probability[: highest + 1] /= 2
        probability[rank : highest + 1] += probability[: highest + 1 - rank].copy()
    probability.flags.writeable = False
    return probability


@lru_cache(maxsize=64)
def lower_tail(n: int) -> NDArray[np.float64]:
    """P(T <= t), t = 0 .. n(n+1)/2."""
    return np.cumsum(null_distribution(n))


def share_at_most(n: int, rank_sum: int) -> float:
    """P(T <= ``rank_sum``), 0 .. n(n+1)/2; counted up to ``MOST_LISTED`` values, and to a relative 1e-10 beyond."""
    if n > MOST_LISTED:
        return tails.signed_ranks_at_most(n, rank_sum)
    return float(lower_tail(n)[rank_sum])


@lru_cache(maxsize=1024)
def critical_value(n: int, level: float) -> int | None:
    """Find the largest c with 1 - 2 P(T <= c) >= ``level``; ``None`` when ``n`` is too small for it."""
    tail = (1 - level) / 2
    if n <= MOST_LISTED:
        count = int(np.searchsorted(lower_tail(n), tail, side="right"))
    else:
        count = _searched(n, tail) if tail > 0 else 0
    return count - 1 if count else None


def _searched(n: int, tail: float) -> int:
    """Number of values that the statistic reaches or undershoots with a chance of ``tail`` or less."""
    deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    about = round(n * (n + 1) / 4 + normal_quantile(tail) * deviation)
    near = range(max(0, about - _BESIDE * n), max(0, about + _BESIDE * n))
    return near.start + bisect_right(near, tail, key=lambda rank_sum: share_at_most(n, rank_sum))


def achieved_level(n: int, critical: int) -> float:
    """Give the exact two-sided confidence level of the interval that ``critical`` leads to."""
    return 1 - 2 * share_at_most(n, critical)


def best_level(n: int) -> float:
    """Give the highest reachable level: ``n`` values all on one side have chance 2^(1-n)."""
    return 1.0 - 2.0 ** (1 - n)


def fewest_values(level: float) -> int:
    """How many values the level needs: 6 for 95 %."""
    n = 1
    while best_level(n) < level:
        n += 1
    return n


def walsh_averages(values: ArrayLike) -> NDArray[np.float64]:
    """Average all pairs, each value with itself too, and sort: shape (..., n) to (..., n(n+1)/2)."""
    array = np.asarray(values, dtype=np.float64)
    first, second = np.triu_indices(array.shape[-1])
    return np.sort((array[..., first] + array[..., second]) / 2, axis=-1)


def hodges_lehmann(values: Sequence[float], level: float = LEVEL) -> Estimate:
    """Take the median of the Walsh averages, and the interval from W(c+1) to W(M-c), M = n(n+1)/2.

    ``level`` in the estimate is the exact level reached, at least the requested one; with too few values the bounds are
    ``None`` and the level is the requested one. Raises ``ValueError`` without values. Assumes values symmetric about
    their centre, and no shape beyond that.
    """
    n = len(values)
    if n == 0:
        raise ValueError("no values to estimate from")
    critical, last = critical_value(n, level), n * (n + 1) // 2 - 1
    below, above, *ends = _ranked(values, [last // 2, (last + 1) // 2, *_bounds(critical, last)])
    without = Estimate(point=(below + above) / 2, low=None, high=None, level=level, n=n)
    if critical is None:
        return without
    return replace(without, low=ends[0], high=ends[1], level=achieved_level(n, critical))


def count_at_most(values: Sequence[float], bound: float) -> int:
    """How many Walsh averages are ``bound`` or less."""
    if len(values) > MOST_LISTED:
        return walsh_at_most(values, bound)
    return int(np.sum(walsh_averages(values) <= bound))


def _bounds(critical: int | None, last: int) -> tuple[int, ...]:
    return () if critical is None else (critical, last - critical)


def _ranked(values: Sequence[float], ranks: Sequence[int]) -> list[float]:
    """The Walsh averages of these ranks, from 0."""
    if len(values) > MOST_LISTED:
        return ranked_walsh(values, ranks)
    averages = walsh_averages(values)
    return [float(averages[rank]) for rank in ranks]


def walsh_at_most(values: Sequence[float], bound: float) -> int:
    """How many of the averages are ``bound`` or less."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    return int(np.sum(_ends(ordered, bound) - np.arange(ordered.size)))


def ranked_walsh(values: Sequence[float], ranks: Sequence[int]) -> list[float]:
    """The averages of these ranks, the least having rank 0.

    Order statistics and counts of all n(n+1)/2 Walsh averages without listing them: in n log^2 n, to the last
    digit.

    The averages of ordered values rise along each row and each column of their table. Halving locates a bound in
    it, row by row; an average of a given rank is located by bounds that each exclude a share of the rest (Johnson
    and Mizoguchi, SIAM Journal on Computing 7 (1978) 147-153; Monahan, ACM Transactions on Mathematical Software 10
    (1984) 265-270, for this estimate).
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    return [_ranked_walsh(ordered, rank) for rank in ranks]


def _ranked_walsh(ordered: _Floats, rank: int) -> float:
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
