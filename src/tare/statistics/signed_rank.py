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

from tare.statistics import tails, walsh
from tare.statistics.distributions import normal_quantile
from tare.statistics.estimate import LEVEL, Estimate

MOST_LISTED = 200
"""Values up to which all signs of the ranks are counted and all Walsh averages are listed. For more, a chance is an
integral (``tails``) and an average is found by its rank (``walsh``), because counting takes n^3 steps."""
_BESIDE = 4
"""Times ``n``: distance within which the normal distribution's critical value is to the exact one."""


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
        return walsh.count_at_most(values, bound)
    return int(np.sum(walsh_averages(values) <= bound))


def _bounds(critical: int | None, last: int) -> tuple[int, ...]:
    return () if critical is None else (critical, last - critical)


def _ranked(values: Sequence[float], ranks: Sequence[int]) -> list[float]:
    """The Walsh averages of these ranks, from 0."""
    if len(values) > MOST_LISTED:
        return walsh.ranked(values, ranks)
    averages = walsh_averages(values)
    return [float(averages[rank]) for rank in ranks]
