# SPDX-License-Identifier: Apache-2.0
"""Null distributions: exact where that is cheap, else from seeded draws, which depend on n alone."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tare.statistics.distributions import normal_share

Floats = NDArray[np.float64]
_SEED = 20250307
_MOST_DRAWS, _FEWEST_DRAWS = 4000, 400
_VALUES_DRAWN = 400_000
_MOST_EXACT = 60
"""Beyond this the normal distribution replaces Kendall's: its error there is below 0.003."""


def draws(n: int) -> int:
    """Number of draws of ``n`` values: 4000, and fewer for long series, to bound time and memory."""
    return max(_FEWEST_DRAWS, min(_MOST_DRAWS, _VALUES_DRAWN // n))


def share_at_least(null: Floats, statistic: float) -> float:
    """Give the p-value of a drawn null distribution, which counts the observed value among the draws."""
    return float((1 + np.sum(null >= statistic - 1e-12)) / (1 + null.size))


@lru_cache(maxsize=16)
def normal_samples(n: int) -> Floats:
    """Normal samples, shape (draws, n), each row sorted."""
    return np.sort(np.random.default_rng(_SEED).standard_normal((draws(n), n)), axis=1)


@lru_cache(maxsize=16)
def orders(n: int) -> NDArray[np.intp]:
    """Random orders of 0 .. n - 1, shape (draws, n)."""
    generator = np.random.default_rng(_SEED)
    return np.argsort(generator.random((draws(n), n)), axis=1)


@lru_cache(maxsize=16)
def heavy_samples(n: int) -> Floats:
    """Samples of Student's t with 3 degrees of freedom: symmetric, with tails as heavy as those of spiky data."""
    return np.random.default_rng(_SEED).standard_t(3, (draws(n), n))


@lru_cache(maxsize=64)
def drawn(statistic: Callable[[Floats], Floats], source: Callable[[int], Floats], n: int) -> Floats:
    """Give a statistic's null distribution from ``source(n)``; both are module-level functions, so it is cached."""
    return statistic(source(n).astype(np.float64))


def kendall_p(score: int, n: int) -> float:
    """Two-sided chance of a score (concordant less discordant pairs) at least as far from 0, without ties.

    Exact up to n = 60: a random order of k things has 0 .. k - 1 more inversions than one of k - 1, equally likely.
    Kendall, Biometrika 30 (1938) 81-93.
    """
    if n > _MOST_EXACT:
        deviation = (n * (n - 1) * (2 * n + 5) / 18) ** 0.5
        return 2 * normal_share(-max(0.0, abs(score) - 1) / deviation)
    inversions = (n * (n - 1) // 2 - abs(score)) // 2
    return min(1.0, 2 * float(np.sum(_inversions(n)[: inversions + 1])))


@lru_cache(maxsize=64)
def _inversions(n: int) -> Floats:
    """Chance of each number of inversions, 0 .. n(n-1)/2."""
    chance = np.ones(1)
    for count in range(2, n + 1):
        chance = np.convolve(chance, np.full(count, 1 / count))
    return chance
