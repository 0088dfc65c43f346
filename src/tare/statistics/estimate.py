# SPDX-License-Identifier: Apache-2.0
"""A value with its interval: what every estimator gives."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A point with its interval; as fractions when it is an overhead."""

    point: float
    low: float | None
    """``None`` both: too few blocks for the level, or a check showed that the interval would not hold."""
    high: float | None
    level: float
    n: int
