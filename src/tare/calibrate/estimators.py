# SPDX-License-Identifier: Apache-2.0
"""What is calibrated: the shipped estimator, and a broken one that shows that the gates can fail."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from tare.analyze.signed_rank import critical_value, hodges_lehmann, walsh_averages
from tare.analyze.student import mean_estimate
from tare.records import Estimate

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimator:
    """An interval for the centre of log-ratios."""

    name: str
    interval: Callable[[Sequence[float], float], Estimate]
    """Of values, at a level."""
    bounds: Callable[[Array, float], tuple[Array, Array]]
    """Low and high of many samples at once, a row each, at a level: the same as ``interval``."""


def _signed_rank_bounds(samples: Array, level: float) -> tuple[Array, Array]:
    critical = critical_value(samples.shape[-1], level)
    if critical is None:
        raise ValueError(f"{samples.shape[-1]} values give no interval of {level:.0%}")
    averages = walsh_averages(samples)
    return averages[..., critical], averages[..., -1 - critical]


def _trimmed(values: Sequence[float], level: float) -> Estimate:
    """Plain t on what is left without the lowest and the highest, as if these had never been."""
    return mean_estimate(sorted(values)[1:-1], level)


def _trimmed_bounds(samples: Array, level: float) -> tuple[Array, Array]:
    left = np.sort(samples, axis=-1)[..., 1:-1]
    n = left.shape[-1]
    half_width = stdtrit(n - 1, (1 + level) / 2) * left.std(axis=-1, ddof=1) / np.sqrt(n)
    mean = left.mean(axis=-1)
    return mean - half_width, mean + half_width


SIGNED_RANK = Estimator(name="signed-rank", interval=hodges_lehmann, bounds=_signed_rank_bounds)
TRIMMED_T = Estimator(name="trimmed-t", interval=_trimmed, bounds=_trimmed_bounds)
"""Broken on purpose: the runs that are dropped leave the standard error too (method.md, the papers' treatments)."""
ESTIMATORS = {estimator.name: estimator for estimator in (SIGNED_RANK, TRIMMED_T)}
DEFAULT = SIGNED_RANK.name
