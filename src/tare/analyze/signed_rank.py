# SPDX-License-Identifier: Apache-2.0
"""The Hodges-Lehmann estimate and its exact interval from Wilcoxon's signed-rank distribution.

Wilcoxon, Biometrics Bulletin 1 (1945) 80-83; Hodges and Lehmann, Annals of Mathematical Statistics 34
(1963) 598-611; the interval from ordered Walsh averages: Hollander, Wolfe and Chicken, Nonparametric
Statistical Methods, chapter 3.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tare.records import Estimate

LEVEL = 0.95
"""Of every interval but the 90 % one of the equivalence test."""


@lru_cache(maxsize=64)
def null_distribution(n: int) -> NDArray[np.float64]:
    """P(T = t), t = 0 .. n(n+1)/2, of the signed-rank statistic of ``n`` values symmetric about 0.

    T is the sum of those of the ranks 1 .. n whose fair coin shows heads, so adding a rank halves the
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


def critical_value(n: int, level: float) -> int | None:
    """Find the largest c with 1 - 2 P(T <= c) >= ``level``; ``None`` when ``n`` is too small for it."""
    count = int(np.searchsorted(lower_tail(n), (1 - level) / 2, side="right"))
    return count - 1 if count else None


def achieved_level(n: int, critical: int) -> float:
    """Give the exact two-sided confidence level of the interval that ``critical`` leads to."""
    return float(1 - 2 * lower_tail(n)[critical])


def best_level(n: int) -> float:
    """Give the highest level in reach: ``n`` values all on one side have chance 2^(1-n)."""
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

    ``level`` in the estimate is the exact level reached, at least that asked for; where too few values
    stand for it the bounds are ``None`` and the level is that asked for. Raises ``ValueError`` without
    values. Assumes values symmetric about their centre, and no shape beyond that.
    """
    n = len(values)
    if n == 0:
        raise ValueError("no values to estimate from")
    critical = critical_value(n, level)
    if critical is None:
        point = float(np.median(walsh_averages(values)))
        return Estimate(point=point, low=None, high=None, level=level, n=n)
    averages = walsh_averages(values)
    return Estimate(
        point=float(np.median(averages)),
        low=float(averages[critical]),
        high=float(averages[-1 - critical]),
        level=achieved_level(len(values), critical),
        n=len(values),
    )
