# SPDX-License-Identifier: Apache-2.0
"""The estimators to calibrate: the shipped one, and a broken one that shows that the gates can fail."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tare.records import Estimate
from tare.statistics import aligned_ranks
from tare.statistics.blocks import quantile
from tare.statistics.contrasts import Contrast, Interval, estimate
from tare.statistics.distributions import student_quantile
from tare.statistics.student import mean_estimate

Array = NDArray[np.float64]
_PRECISION = 1e-6
"""Of a bound in a simulation, as a share of its possible range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimator:
    """An interval for the centre of blocks."""

    name: str
    interval: Interval
    bounds: Callable[[Array, Array, float], tuple[Array, Array]]
    """Ends of many intervals at once: log-ratios and controls, a row per sample, and a level → low and high."""
    misses: Callable[[Array, Array, float, float], NDArray[np.bool_]]
    """Whether the interval of each row excludes a centre, at a level: faster than computing its ends."""


def _aligned_bounds(log_ratios: Array, controls: Array, level: float) -> tuple[Array, Array]:
    return aligned_ranks.bounds(log_ratios, controls, 1 - level, _PRECISION)


def _aligned_misses(log_ratios: Array, controls: Array, centre: float, level: float) -> NDArray[np.bool_]:
    values = aligned_ranks.statistic(log_ratios, controls, np.asarray(centre))
    return np.asarray(np.abs(values) > quantile(1 - level))


def _trimmed(contrast: Contrast, error: float) -> Estimate:
    """Plain t interval without the lowest and the highest value, as if they had never been measured."""
    return mean_estimate(sorted(contrast.log_ratios)[1:-1], 1 - error)


def _trimmed_bounds(log_ratios: Array, controls: Array, level: float) -> tuple[Array, Array]:
    del controls
    left = np.sort(log_ratios, axis=-1)[..., 1:-1]
    n = left.shape[-1]
    half_width = student_quantile(n - 1, (1 + level) / 2) * left.std(axis=-1, ddof=1) / np.sqrt(n)
    mean = left.mean(axis=-1)
    return mean - half_width, mean + half_width


def _trimmed_misses(log_ratios: Array, controls: Array, centre: float, level: float) -> NDArray[np.bool_]:
    low, high = _trimmed_bounds(log_ratios, controls, level)
    return np.asarray((low > centre) | (high < centre))


ALIGNED_RANKS = Estimator(
    name="aligned-ranks", interval=estimate, bounds=_aligned_bounds, misses=_aligned_misses
)
TRIMMED_T = Estimator(name="trimmed-t", interval=_trimmed, bounds=_trimmed_bounds, misses=_trimmed_misses)
"""Broken on purpose: the dropped runs are missing in the standard error too (docs/method.md, "As the papers did")."""
ESTIMATORS = {estimator.name: estimator for estimator in (ALIGNED_RANKS, TRIMMED_T)}
DEFAULT = ALIGNED_RANKS.name
