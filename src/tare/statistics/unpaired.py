# SPDX-License-Identifier: Apache-2.0
"""The difference of two centres that were estimated from independent values, from the intervals of both.

Zou and Donner, Statistics in Medicine 27 (2008) 1693-1702: the distance from a centre to its own interval's end says
how far its estimate may be off on that side; for a difference, the squares of two such distances add up. Each side
keeps its own interval, with its number of values, spread, dependence and looks, so that unequal noise does no harm. The
result is not exact; docs/statistics.md has its error rates.
"""

import math
from collections.abc import Callable

from tare.statistics.estimate import Estimate

Side = Callable[[float], Estimate]
"""Permitted chance of a miss → the estimate with its interval; a larger chance never gives a wider interval."""
_SMALLEST = -24.0
"""Exponent of 2: p-values go no lower."""
_HALVINGS = 10
"""Of the exponent's range: a p-value is rounded up by at most 2 %."""


def unpaired_difference(before: Side, after: Side, error: float) -> Estimate:
    """``after`` minus ``before``, with an interval that misses with a chance of about ``error``.

    No ends where either side has none. The level is the lower one of both sides, and ``n`` the smaller number.
    """
    first, second = before(error), after(error)
    point, n, level = second.point - first.point, min(first.n, second.n), min(first.level, second.level)
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Estimate(point=point, low=None, high=None, level=level, n=n)
    down = math.hypot(second.point - second.low, first.high - first.point)
    up = math.hypot(second.high - second.point, first.point - first.low)
    return Estimate(point=point, low=point - down, high=point + up, level=level, n=n)


def unpaired_difference_p(before: Side, after: Side, error: float) -> float:
    """Two-sided p-value of "no difference" if it is at most ``error``, else 1."""
    return _least_error(before, after, error, lambda low, high: low > 0 or high < 0)


def unpaired_equivalence_p(before: Side, after: Side, bound: float, error: float) -> float:
    """P-value of "not within plus or minus ``bound``" if it is at most ``error``, else 1: two one-sided tests.

    Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987) 657-680.
    """
    least = _least_error(before, after, 2 * error, lambda low, high: -bound < low and high < bound)
    return least / 2 if least < 1 else 1.0


def _least_error(before: Side, after: Side, error: float, shows: Callable[[float, float], bool]) -> float:
    """The smallest chance of a miss, rounded up, at which the interval shows it; 1 if none up to ``error`` does."""

    def is_shown(chance: float) -> bool:
        estimate = unpaired_difference(before, after, chance)
        return estimate.low is not None and estimate.high is not None and shows(estimate.low, estimate.high)

    if not is_shown(error):
        return 1.0
    low, high = _SMALLEST, math.log2(error)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_shown(2**middle) else (middle, high)
    return float(2**high) if high < math.log2(error) else error
