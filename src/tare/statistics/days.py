# SPDX-License-Identifier: Apache-2.0
"""The newest of several results against what another day would have given.

One more value from the same normal distribution lies with the requested chance within mean ± t s sqrt(1 + 1/k) of k
earlier ones (Hahn and Meeker, Statistical Intervals, 1991, as remembered). Their spread s holds the differences between
days and the noise within a result alike, so nothing is assumed about the size of either. docs/compare.md has the error
rates.
"""

import math
from collections.abc import Sequence

from tare.statistics.estimate import Estimate
from tare.statistics.student import mean_estimate
from tare.statistics.unpaired import Side

LEAST_DAYS = 4
"""Earlier results that a statement about days needs: the interval is then ±3.6 s; ±15.6 s with two, ±5.0 s with three,
and never below ±2 s."""
_Distances = tuple[float, float]
"""From a centre down to the lower end of its interval, and up to the upper one."""


def newest_difference(earlier: Sequence[Side], newest: Side, error: float) -> Estimate:
    """``newest`` minus the mean of ``earlier``, with an interval that misses with a chance of about ``error``.

    Its ``n`` is the number of earlier results. No ends with fewer than ``LEAST_DAYS``, or where any side has none.
    Raises ``ValueError`` without earlier results.
    """
    days, last = [side(error) for side in earlier], newest(error)
    centre = mean_estimate([day.point for day in days], 1 - error, widening=math.sqrt(len(days) + 1))
    point, level = last.point - centre.point, min(each.level for each in (*days, last))
    own, others = _distances(last), [each for each in map(_distances, days) if each]
    if own is None or centre.high is None or len(others) < max(len(days), LEAST_DAYS):
        return Estimate(point=point, low=None, high=None, level=level, n=len(days))
    predicted = centre.high - centre.point
    down = _distance(predicted, own[0], [up for _, up in others])
    up = _distance(predicted, own[1], [down for down, _ in others])
    return Estimate(point=point, low=point - down, high=point + up, level=level, n=len(days))


def _distances(estimate: Estimate) -> _Distances | None:
    if estimate.low is None or estimate.high is None:
        return None
    return estimate.point - estimate.low, estimate.high - estimate.point


def _distance(predicted: float, own: float, others: Sequence[float]) -> float:
    """The prediction's half-width, wider where the newest's own interval is wider than the earlier ones' on average.

    Never less than the noise within the results makes it: a few results that agree by chance do not make the newest
    more exact than it is.
    """
    squares = math.fsum(other**2 for other in others)
    excess = max(0.0, own**2 - squares / len(others))
    return math.sqrt(max(predicted**2 + excess, own**2 + squares / len(others) ** 2))
