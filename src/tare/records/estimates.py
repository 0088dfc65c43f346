# SPDX-License-Identifier: Apache-2.0
"""A value with its interval: what every other record of the analysis is made of."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowRuns:
    """Runs that took a fifth more time than the middle one of their block, or longer."""

    runs: int
    slow: int
    """Of the environment's."""
    native_runs: int
    native_slow: int
    by: float | None
    """Median of what the environment's slow ones took more, as a fraction; ``None``: there was none."""
