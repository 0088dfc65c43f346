# SPDX-License-Identifier: Apache-2.0
"""Intervals by resampling blocks: Efron and Tibshirani, An introduction to the bootstrap (1993), as remembered."""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr, ndtri

from bench.simulation.intervals import Bounds
from bench.simulation.scenarios import Floats
from bench.statistics.estimators import (
    LEVEL,
    Estimator,
    of_geometric_means,
    of_means,
    of_medians,
    of_paired_median,
)

DRAWS = 600
_AT_ONCE = 6_000_000
Statistic = Callable[[Floats, Floats], Floats]
"""Of native and environment, along the last axis."""


def ratio_of_means(native: Floats, here: Floats) -> Floats:
    """ln, of times."""
    return np.asarray(np.log(here.mean(axis=-1) / native.mean(axis=-1)))


def median_ratio(native: Floats, here: Floats) -> Floats:
    return np.asarray(np.median(here - native, axis=-1))


def ratio_of_medians(native: Floats, here: Floats) -> Floats:
    return np.asarray(np.median(here, axis=-1) - np.median(native, axis=-1))


def _resampled(native: Floats, here: Floats, statistic: Statistic, *, paired: bool) -> Floats:
    """(campaigns, draws)."""
    generator = np.random.default_rng(7)
    rows, n = native.shape
    empty = np.empty((rows, DRAWS))
    step = max(1, _AT_ONCE // (DRAWS * n))
    for begin in range(0, rows, step):
        part = slice(begin, begin + step)
        shape = (len(native[part]), DRAWS * n)
        places = generator.integers(0, n, shape)
        others = places if paired else generator.integers(0, n, shape)
        drawn = (
            np.take_along_axis(values[part], chosen, axis=1).reshape(-1, DRAWS, n)
            for values, chosen in ((native, places), (here, others))
        )
        empty[part] = statistic(*drawn)
    return empty


def percentile(
    statistic: Statistic, *, paired: bool, times: bool = False
) -> Callable[[Floats, Floats], Bounds]:
    """``times``: the statistic is of times, not of their logarithms."""

    def interval(native: Floats, here: Floats) -> Bounds:
        arms = (np.exp(native), np.exp(here)) if times else (native, here)
        draws = _resampled(arms[0], arms[1], statistic, paired=paired)
        low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=1)
        return low, high

    return interval


def corrected(native: Floats, here: Floats) -> Bounds:
    """BCa, of the paired ratio of means."""
    below, above = np.exp(native), np.exp(here)
    draws = np.sort(_resampled(below, above, ratio_of_means, paired=True), axis=1)
    point = ratio_of_means(below, above)
    share = np.clip(np.mean(draws < point[:, None], axis=1), 0.5 / DRAWS, 1 - 0.5 / DRAWS)
    bias = ndtri(share)
    n = below.shape[-1]
    left_out = np.log((above.sum(1, keepdims=True) - above) / (below.sum(1, keepdims=True) - below))
    apart = left_out.mean(axis=1, keepdims=True) - left_out
    acceleration = np.sum(apart**3, axis=1) / (6 * np.maximum(1e-300, np.sum(apart**2, axis=1)) ** 1.5)
    assert left_out.shape[-1] == n
    rows = np.arange(len(draws))
    bounds = []
    for quantile in (ndtri((1 - LEVEL) / 2), ndtri((1 + LEVEL) / 2)):
        moved = bias + (bias + quantile) / (1 - acceleration * (bias + quantile))
        bounds.append(draws[rows, np.clip((ndtr(moved) * DRAWS).astype(int), 0, DRAWS - 1)])
    return bounds[0], bounds[1]


def studentized(native: Floats, here: Floats) -> Bounds:
    """Bootstrap-t of the mean block log-ratio."""
    values = here - native
    n = values.shape[-1]
    mean, error = values.mean(axis=-1), values.std(axis=-1, ddof=1) / np.sqrt(n)

    def pivots(_: Floats, drawn: Floats) -> Floats:
        return np.asarray(drawn.mean(axis=-1) / np.maximum(drawn.std(axis=-1, ddof=1) / np.sqrt(n), 1e-9))

    centred = values - mean[:, None]
    resampled = _resampled(centred, centred, pivots, paired=True)
    low, high = np.quantile(resampled, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=1)
    return mean - high * error, mean - low * error


RESAMPLED = (
    Estimator(
        "bootstrap percentile, median block ratio", percentile(median_ratio, paired=True), of_paired_median
    ),
    Estimator(
        "bootstrap percentile, ratio of medians", percentile(ratio_of_medians, paired=False), of_medians
    ),
    Estimator(
        "bootstrap percentile, paired ratio of means",
        percentile(ratio_of_means, paired=True, times=True),
        of_means,
    ),
    Estimator("bootstrap BCa, paired ratio of means", corrected, of_means),
    Estimator("bootstrap-t, mean block log-ratio", studentized, of_geometric_means),
)
