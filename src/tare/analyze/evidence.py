# SPDX-License-Identifier: Apache-2.0
"""Exact p-values that agree with the intervals: the least error at which an interval shows what is claimed.

A p-value here is the smallest overall chance of error at which the signed-rank interval leaves out 0, or lies
inside the margin. With several looks it is that of the repeated interval at the look reached (Jennison and
Turnbull, Journal of the Royal Statistical Society B 51 (1989) 305-361), so it holds whatever made a campaign
stop there.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tare.analyze.boundary import boundary
from tare.analyze.looks import seen
from tare.analyze.signed_rank import achieved_level, critical_value, lower_tail, walsh_averages
from tare.records import Estimate, Overhead

_COUNTS = (*range(1, 26), *(round(25 * 1.1**step) for step in range(1, 40)))
_ERRORS: tuple[float, ...] = (*(0.05 / count for count in reversed(_COUNTS)), 0.07, 0.1, 0.2, 0.5, 1.0)
"""Rising. p-values under several looks are found on this grid, rounded up. It holds the levels that Holm's procedure
asks for with up to 25 claims, so that rounding costs nothing there; beyond, a tenth at most."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the values of a claim have come: how many there were at each look, and what each may spend."""

    ns: tuple[int, ...]
    spent: tuple[float, ...]

    @classmethod
    def of(cls, overhead: Overhead) -> "Reach":
        """The looks that an overhead passed; of one without looks, all of its values at once."""
        looks = overhead.looks
        if not looks:
            return cls.at_once(overhead.typical.n)
        return cls(tuple(look.n for look in looks), tuple(look.spent for look in looks))

    @classmethod
    def common(cls, overheads: Sequence[Overhead], n: int) -> "Reach":
        """Of values made of several overheads: the looks of that which stopped first, and ``n`` at the last."""
        shortest = min((cls.of(overhead) for overhead in overheads), key=lambda reach: reach.ns[-1])
        return cls((*(min(n, looked) for looked in shortest.ns[:-1]), n), shortest.spent)

    @classmethod
    def at_once(cls, n: int) -> "Reach":
        return cls((n,), (1.0,))

    @property
    def fixed(self) -> bool:
        """Whether there was one look, which may use up all of the error."""
        return self.spent == (1.0,)

    def critical(self, error: float) -> int | None:
        """C of the interval W(c+1) to W(M-c) whose overall chance of error is ``error`` at most."""
        if self.fixed:
            return critical_value(self.ns[-1], 1 - error)
        return boundary(self.ns, self.spent, error)[-1].critical


def by_block(overhead: Overhead) -> dict[int, float]:
    """Number of each block that the last look took in → its log-ratio."""
    summary = overhead.summary
    values = seen(summary, overhead.looks)
    return dict(zip((block.block for block in summary.blocks[: len(values)]), values, strict=True))


def difference_p(log_ratios: Sequence[float], reach: Reach) -> float:
    """Of "no difference": two-sided."""
    averages = walsh_averages(log_ratios)
    least = min(int(np.sum(averages <= 0)), int(np.sum(averages >= 0)))
    return least_error(reach, least)


def equivalence_p(log_ratios: Sequence[float], margin: float, reach: Reach) -> float:
    """Of "not within ±margin": the larger of two one-sided tests, so half of what the whole interval may err.

    Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987) 657-680.
    """
    averages = walsh_averages(log_ratios)
    below = int(np.sum(averages <= math.log1p(-margin)))
    above = int(np.sum(averages >= math.log1p(margin)))
    if below + above >= averages.size:
        return 1.0
    error = least_error(reach, max(below, above))
    return error / 2 if error < 1 else 1.0


def interval(log_ratios: Sequence[float], reach: Reach, error: float) -> Estimate:
    """Give the interval, on the scale of logarithms, that misses with a chance of ``error`` at most."""
    averages = walsh_averages(log_ratios)
    point, n = float(np.median(averages)), len(log_ratios)
    critical = reach.critical(error)
    if critical is None:
        return Estimate(point=point, low=None, high=None, level=1 - error, n=n)
    level = achieved_level(n, critical) if reach.fixed else 1 - error
    return Estimate(
        point=point, low=float(averages[critical]), high=float(averages[-1 - critical]), level=level, n=n
    )


@lru_cache(maxsize=4096)
def least_error(reach: Reach, least: int) -> float:
    """Find the smallest overall error with which the interval leaves ``least`` Walsh averages out on that side."""
    if reach.fixed:
        return min(1.0, 2 * float(lower_tail(reach.ns[-1])[least]))
    low, high = 0, len(_ERRORS) - 1
    if not _reaches(reach, least, _ERRORS[high]):
        return 1.0
    while low < high:
        middle = (low + high) // 2
        if _reaches(reach, least, _ERRORS[middle]):
            high = middle
        else:
            low = middle + 1
    return _ERRORS[high]


def _reaches(reach: Reach, least: int, error: float) -> bool:
    critical = reach.critical(error)
    return critical is not None and critical >= least
