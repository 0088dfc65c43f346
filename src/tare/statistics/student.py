# SPDX-License-Identifier: Apache-2.0
"""The mean with Student's t interval."""

import math
from collections.abc import Sequence

import numpy as np

from tare.statistics.distributions import student_quantile
from tare.statistics.estimate import LEVEL, Estimate


def standard_deviation(values: Sequence[float]) -> float | None:
    """Estimate for the population, with n - 1 degrees of freedom; ``None`` below two values."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def mean_estimate(values: Sequence[float], level: float = LEVEL, *, widening: float = 1.0) -> Estimate:
    """Mean ± t s / sqrt(n), ``widening`` times as wide; no bounds from one value.

    Raises ``ValueError`` without values.
    """
    n = len(values)
    if n == 0:
        raise ValueError("no values to estimate from")
    mean = math.fsum(values) / n
    deviation = standard_deviation(values)
    if deviation is None:
        return Estimate(point=mean, low=None, high=None, level=level, n=n)
    half_width = widening * student_quantile(n - 1, (1 + level) / 2) * deviation / math.sqrt(n)
    return Estimate(point=mean, low=mean - half_width, high=mean + half_width, level=level, n=n)
