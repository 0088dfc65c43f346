# SPDX-License-Identifier: Apache-2.0
"""A value with its interval, as every estimator gives it, and its conversion to another scale.

Estimates are made from logarithms of ratios and reported as fractions.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

LEVEL = 0.95
"""Of every interval that holds by itself."""
_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A point with its interval; as fractions when it is an overhead."""

    point: float
    low: float | None
    """Both ends are ``None`` with too few blocks for the level, or if a check showed that the interval would not
    hold."""
    high: float | None
    level: float
    n: int


def lies_within(estimate: Estimate, margin: float) -> bool:
    """Whether both ends of the interval of fractions lie inside plus or minus ``margin``."""
    if estimate.low is None or estimate.high is None:
        return False
    return -margin < estimate.low and estimate.high < margin


def leaves_out_0(estimate: Estimate) -> bool:
    """Whether the interval shows a difference."""
    return estimate.low is not None and estimate.high is not None and (estimate.low > 0 or estimate.high < 0)


def as_fraction(log_estimate: Estimate) -> Estimate:
    """From the scale of logarithms to fractions: exp(x) - 1."""
    return transformed(log_estimate, fraction)


def transformed(estimate: Estimate, function: Callable[[float], float]) -> Estimate:
    """Point and interval on another scale; the rising ``function`` keeps their order."""
    low, high = estimate.low, estimate.high
    return replace(
        estimate,
        point=function(estimate.point),
        low=None if low is None else function(low),
        high=None if high is None else function(high),
    )


def fraction(log_ratio: float) -> float:
    """``exp(log_ratio) - 1``, and a large number where that is too large for a float."""
    # Garbage values may lie further apart than a float can express.
    return math.expm1(min(log_ratio, _LARGEST_EXPONENT))
