# SPDX-License-Identifier: Apache-2.0
"""Values regardless of order: one group or two, symmetric or not, normal or not."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tare.statistics.chance import Floats, drawn, heavy_samples, normal_samples, share_at_least
from tare.statistics.distributions import normal_quantile, normal_share
from tare.statistics.series import spread_of

_SMALLER_GROUP = 0.2
"""Least share of the values in the smaller of two groups; fewer are spikes, which are reported as such."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The two groups into which the values fall best."""

    lower: float
    """Median of the lower group."""
    upper: float
    smaller_share: float
    statistic: float
    """Share of the values' variance that lies between the groups."""
    p: float


def two_groups(values: Sequence[float]) -> Groups:
    """Cut the ordered values in two where the cut explains most of their variance.

    The p-value assumes values from one normal distribution; distributions with heavier tails and one mode score lower.
    Otsu, IEEE Transactions on Systems, Man, and Cybernetics 9 (1979) 62-66, for the criterion.
    """
    ordered = np.sort(np.asarray(values))
    shares = _explained(ordered[None, :])[0]
    cut = int(np.argmax(shares)) + _fewest(ordered.size)
    statistic = float(np.max(shares))
    return Groups(
        lower=float(_middle(ordered[:cut])[0]),
        upper=float(_middle(ordered[cut:])[0]),
        smaller_share=min(cut, ordered.size - cut) / ordered.size,
        statistic=statistic,
        p=share_at_least(drawn(_most_explained, normal_samples, ordered.size), statistic),
    )


def skew(values: Sequence[float]) -> tuple[float, float]:
    """Mean minus median, divided by the mean distance to the median, and its p-value; 0 and 1 when all are equal.

    Miao, Gel and Gastwirth, in: Random Walk, Sequential Analysis and Related Topics (2006) 1-19, for the statistic. The
    p-value assumes Student's t with 3 degrees of freedom, so symmetric values with lighter tails give fewer false
    alarms than stated.
    """
    array = np.asarray(values)
    statistic = float(_lean(spread_of(array)))
    p = share_at_least(drawn(_leans, heavy_samples, array.size), abs(statistic))
    return statistic, p


def normality(values: Sequence[float]) -> tuple[float, float]:
    """Shapiro and Francia's W', and its approximate p-value, for 5 values or more.

    It is the squared correlation of the ordered values with normal quantiles, which does as well as Shapiro and
    Wilk's W. Royston, The Statistician 42 (1993), for the p-value, as remembered. Equal values: 1 and 1.
    """
    ordered, n = np.sort(np.asarray(values)), len(values)
    if not np.any(spread_of(ordered)):
        return 1.0, 1.0
    correlation = float(np.corrcoef(ordered, _normal_scores(n))[0, 1])
    u, v = math.log(n), math.log(math.log(n))
    mean, deviation = -1.2725 + 1.0521 * (v - u), 1.0308 - 0.26758 * (v + 2 / u)
    short = max(1 - correlation**2, 1e-300)
    return correlation**2, normal_share((mean - math.log(short)) / deviation)


@lru_cache(maxsize=64)
def _normal_scores(n: int) -> Floats:
    return np.array([normal_quantile((place - 0.375) / (n + 0.25)) for place in range(1, n + 1)])


def _fewest(n: int) -> int:
    return max(2, math.ceil(_SMALLER_GROUP * n))


def _explained(ordered: Floats) -> Floats:
    """Shape (..., n) to one share for each cut that leaves enough on both sides; 0 when all values are alike."""
    n = ordered.shape[-1]
    fewest = _fewest(n)
    centred = spread_of(ordered)
    total = np.sum(centred**2, axis=-1, keepdims=True)
    counts = np.arange(fewest, n - fewest + 1)
    sums = np.cumsum(centred, axis=-1)[..., fewest - 1 : n - fewest]
    between = sums**2 * n / (counts * (n - counts))
    shares: Floats = np.divide(between, total, out=np.zeros_like(between), where=total > 0)
    return shares


def _most_explained(ordered: Floats) -> Floats:
    most: Floats = np.max(_explained(ordered), axis=-1)
    return most


def _lean(values: Floats) -> Floats:
    centre = _middle(values)
    distance = np.mean(np.abs(values - centre), axis=-1)
    lean = np.mean(values - centre, axis=-1)
    divide: Floats = np.divide(lean, distance, out=np.zeros_like(lean), where=distance > 0)
    return divide


def _middle(values: Floats) -> Floats:
    """The median, shape (..., 1); numpy's own loads all of its masked arrays first."""
    places = (values.shape[-1] - 1) // 2, values.shape[-1] // 2
    median: Floats = np.partition(values, places, axis=-1)[..., places].sum(axis=-1, keepdims=True) / 2
    return median


def _leans(values: Floats) -> Floats:
    return np.abs(_lean(values))
