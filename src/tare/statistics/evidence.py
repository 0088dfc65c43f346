# SPDX-License-Identifier: Apache-2.0
"""Exact p-values that agree with the intervals: the least error at which an interval shows the claim.

A p-value here is the smallest overall chance of error at which the interval excludes 0, or lies inside the margin. With
several looks it belongs to the repeated interval at the look reached (Jennison and Turnbull, Journal of the Royal
Statistical Society B 51 (1989) 305-361), so it holds for whatever reason a campaign stopped there.
"""

import math
from dataclasses import dataclass

from tare.statistics.boundary import boundary
from tare.statistics.contrasts import Contrast, looked
from tare.statistics.estimate import Estimate

_COUNTS = (*range(1, 26), *(round(25 * 1.1**step) for step in range(1, 40)))
_ERRORS: tuple[float, ...] = (*(0.05 / count for count in reversed(_COUNTS)), 0.07, 0.1, 0.2, 0.5, 1.0)
"""Ascending. p-values under several looks are rounded up to this grid. It contains the levels of up to 25 joint
claims, so rounding costs nothing there; beyond, at most a tenth. Words are read from intervals, which are not
rounded."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Progress of a claim: the number of values at each look, and the error that each look may spend."""

    ns: tuple[int, ...]
    spent: tuple[float, ...]

    @classmethod
    def at_once(cls, n: int) -> "Reach":
        return cls((n,), (1.0,))

    @property
    def fixed(self) -> bool:
        """Whether there was a single look, which may use up all of the error."""
        return self.spent == (1.0,)

    def permitted(self, error: float) -> float:
        """Chance that the interval of any of the looks misses: ``error``, or more after added blocks."""
        return error * max(1.0, *self.spent)

    def nominal(self, error: float) -> float:
        """Nominal level of an interval whose overall chance of error is ``permitted(error)``; 0 if there is none."""
        return boundary(self.ns, self.spent, error)[-1]


def difference_p(contrast: Contrast, reach: Reach) -> float:
    """Two-sided p-value of "no difference"."""
    return least_error(reach, 2 * min(contrast.above(0.0), contrast.below(0.0)))


def equivalence_p(contrast: Contrast, margin: float, reach: Reach) -> float:
    """P-value of "not within ±margin": the larger of two one-sided tests, so half the error of the whole interval.

    Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987) 657-680.
    """
    larger = max(contrast.above(math.log1p(-margin)), contrast.below(math.log1p(margin)))
    error = least_error(reach, 2 * larger)
    return error / 2 if error < 1 else 1.0


def bound_p(contrast: Contrast, bound: float, reach: Reach) -> float:
    """P-value of "costs ``bound`` or more": twice the one-sided, as the report gives the two-sided interval's end."""
    return least_error(reach, 2 * contrast.below(math.log1p(bound)))


def interval(contrast: Contrast, reach: Reach, error: float) -> Estimate:
    """Give the interval, on the scale of logarithms, that misses with a chance of ``error`` at most."""
    return looked(contrast, reach.nominal(error), reach.permitted(error), fixed=reach.fixed)


def least_error(reach: Reach, nominal: float) -> float:
    """Find the smallest overall error whose interval at the last look has at least the level ``nominal``."""
    if reach.fixed:
        return min(1.0, nominal)
    low, high = 0, len(_ERRORS) - 1
    if reach.nominal(_ERRORS[high]) < nominal:
        return 1.0
    while low < high:
        middle = (low + high) // 2
        if reach.nominal(_ERRORS[middle]) >= nominal:
            high = middle
        else:
            low = middle + 1
    return _ERRORS[high]
