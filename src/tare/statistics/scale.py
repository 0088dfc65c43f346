# SPDX-License-Identifier: Apache-2.0
"""From logarithms of ratios, on which everything is estimated, to fractions, in which everything is told."""

import math
from collections.abc import Callable
from dataclasses import replace

from tare.statistics.estimate import Estimate

_LARGEST_EXPONENT = 700.0


def as_fraction(log_estimate: Estimate) -> Estimate:
    """From the scale of logarithms to fractions: exp(x) - 1."""
    return transformed(log_estimate, _fraction)


def transformed(estimate: Estimate, function: Callable[[float], float]) -> Estimate:
    """Point and interval on another scale; the rising ``function`` keeps their order."""
    low, high = estimate.low, estimate.high
    return replace(
        estimate,
        point=function(estimate.point),
        low=None if low is None else function(low),
        high=None if high is None else function(high),
    )


def _fraction(log_ratio: float) -> float:
    # Garbage values may lie further apart than a float's exponent can say.
    return math.expm1(min(log_ratio, _LARGEST_EXPONENT))
