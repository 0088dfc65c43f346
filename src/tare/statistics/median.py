# SPDX-License-Identifier: Apache-2.0
"""The median with its exact interval from ordered values, whatever their distribution.

David and Nagaraja, Order Statistics, chapter 7: how many of n values lie below the median is binomial.
"""

import math
import statistics
from collections.abc import Sequence
from functools import lru_cache

from tare.statistics.estimate import LEVEL, Estimate


def median_estimate(values: Sequence[float], level: float = LEVEL) -> Estimate:
    """Take the median, and as interval the (c+1)th value from below to the (c+1)th from above.

    c is the largest with which the interval still holds the true median with at least ``level``; the estimate has the
    level reached. With too few values for that, the bounds are ``None`` and the level is the requested one. Raises
    ``ValueError`` without values.
    """
    n = len(values)
    if n == 0:
        raise ValueError("no values to estimate from")
    point, ordered = statistics.median(values), sorted(values)
    cut, reached = _cut(n, level)
    if cut < 0:
        return Estimate(point=point, low=None, high=None, level=level, n=n)
    return Estimate(point=point, low=ordered[cut], high=ordered[-1 - cut], level=reached, n=n)


@lru_cache(maxsize=1024)
def _cut(n: int, level: float) -> tuple[int, float]:
    """The largest cut that still reaches ``level``, and the level it reaches; -1 if none does.

    Only about the root of ``n`` chances are added up, from the middle, where they are largest.
    """
    cut, every = (n - 1) // 2, 1 << n
    ways, inside = math.comb(n, cut), 0 if n % 2 else math.comb(n, n // 2)
    while cut >= 0:
        reached = 1 - (every - inside) / every
        if reached >= level:
            return cut, reached
        inside += 2 * ways
        ways = ways * cut // (n - cut + 1)
        cut -= 1
    return cut, level
