# SPDX-License-Identifier: Apache-2.0
"""Sums of variances with their intervals, and how many iterations a start should have.

A sum of independent mean squares with known factors has the interval of Graybill and Wang, Journal of the American
Statistical Association 75 (1980) 869-873, which Ting, Burdick, Graybill, Jeyaratnam and Lu, Journal of Statistical
Computation and Simulation 35 (1990) 135-143, extend to factors below 0; both as remembered. Unlike the intervals from
ranks it needs nearly normal parts.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tare.statistics.distributions import chi_squared_quantile
from tare.statistics.estimate import LEVEL, Estimate, transformed

FEWEST_VALUES = 6
"""As many as the other intervals need."""
_LARGEST_VARIANCE = 700.0
MOST_ITERATIONS = 1000
"""More iterations per start are not advised: other things drift in the meantime."""


@dataclass(frozen=True, slots=True)
class MeanSquare:
    """One independent mean square of a sum of variances."""

    factor: float
    value: float
    freedom: int


def best_iterations(
    start_cost_s: float, iteration_cost_s: float, between_starts: float, between_iterations: float
) -> int | None:
    """How many iterations per start give the narrowest interval in a given time: the whole number next to m*.

    m* = sqrt((c_start / c_iteration) (s2_iteration / s2_start)): Kalibera and Jones, ISMM 2013, as remembered.
    ``None`` when a start has no measured cost; ``MOST_ITERATIONS`` when starts do not differ.
    """
    if iteration_cost_s <= 0 or start_cost_s < 0:
        return None
    if between_starts <= 0:
        return MOST_ITERATIONS if between_iterations > 0 else 1
    best = math.sqrt(start_cost_s / iteration_cost_s * between_iterations / between_starts)
    return max(1, min(MOST_ITERATIONS, round(best)))


def variation(log_values: Sequence[float], level: float = LEVEL) -> Estimate:
    """The coefficient of variation of values that are given as logarithms: sqrt(exp(s2) - 1), s2 their variance.

    The interval is chi-squared's for the variance of normal logarithms; without one below ``FEWEST_VALUES``.
    """
    n = len(log_values)
    square = MeanSquare(1.0, statistics.variance(log_values), n - 1)
    squared = combined([square], n, level)
    if n < FEWEST_VALUES:
        squared = replace(squared, low=None, high=None)
    return transformed(squared, _of_variance)


def _of_variance(variance: float) -> float:
    return math.sqrt(math.expm1(min(variance, _LARGEST_VARIANCE)))


def combined(squares: Sequence[MeanSquare], n: int, level: float = LEVEL) -> Estimate:
    """The sum of factor times mean square with its interval, which does not go below 0."""
    tail = (1 - level) / 2
    point = sum(square.factor * square.value for square in squares)
    below = above = 0.0
    for square in squares:
        size = square.factor * square.value
        shrunk = 1 - square.freedom / chi_squared_quantile(square.freedom, tail)
        grown = square.freedom / chi_squared_quantile(square.freedom, 1 - tail) - 1
        down, up = (shrunk, grown) if size >= 0 else (grown, shrunk)
        below += (down * size) ** 2
        above += (up * size) ** 2
    low, high = point - math.sqrt(below), point + math.sqrt(above)
    return Estimate(point=point, low=max(0.0, low), high=max(0.0, high), level=level, n=n)
