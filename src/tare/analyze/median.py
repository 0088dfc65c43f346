# SPDX-License-Identifier: Apache-2.0
"""The median with its exact interval from ordered values, whatever their distribution.

David and Nagaraja, Order Statistics, chapter 7: how many of n values lie below the median is binomial.
"""

import math
import statistics
from collections.abc import Sequence

from tare.analyze.signed_rank import LEVEL
from tare.records import Estimate


def median_estimate(values: Sequence[float], level: float = LEVEL) -> Estimate:
    """Take the median, and as interval the (c+1)th value from below to the (c+1)th from above.

    c is the largest with which it still holds the true median with at least ``level``; the estimate has the
    level that is reached. Where too few values stand for it, the bounds are ``None`` and the level is that
    asked for. Raises ``ValueError`` without values.
    """
    n = len(values)
    if n == 0:
        raise ValueError("no values to estimate from")
    point, ordered = statistics.median(values), sorted(values)
    levels = [_level(n, cut) for cut in range((n + 1) // 2)]
    cut = sum(reached >= level for reached in levels) - 1
    if cut < 0:
        return Estimate(point=point, low=None, high=None, level=level, n=n)
    return Estimate(point=point, low=ordered[cut], high=ordered[-1 - cut], level=levels[cut], n=n)


def _level(n: int, cut: int) -> float:
    """Chance that more than ``cut`` of ``n`` values lie on either side of the median."""
    return 1 - 2 * sum(math.comb(n, count) for count in range(cut + 1)) / (1 << n)
