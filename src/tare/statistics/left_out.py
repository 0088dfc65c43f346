# SPDX-License-Identifier: Apache-2.0
"""An interval for one more case, from how well each known case is predicted without itself: the jackknife+.

Barber, Candès, Ramdas and Tibshirani, "Predictive inference with the jackknife+", Annals of Statistics 49 (2021),
486-507: if the cases are exchangeable, it misses with a chance of at most twice 1 - level whatever the predictor, and
of about 1 - level where the predictor is stable. Errors are scaled by a size that is known beforehand for each case.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple


class Without(NamedTuple):
    """What is predicted without one of the known cases."""

    own: float
    """For that case."""
    own_scale: float
    """How large an error may be there; above 0."""
    truth: float
    """Its true value."""
    new: float
    """For the new case."""
    new_scale: float


def fewest_cases(level: float) -> int:
    """With fewer cases there is no finite interval."""
    return math.ceil(round(level / (1 - level), 9))


def interval(left_out: Sequence[Without], level: float) -> tuple[float, float] | None:
    """The ends for the new case; ``None`` with fewer than ``fewest_cases``."""
    rank = math.ceil(round(level * (len(left_out) + 1), 9))
    if rank > len(left_out):
        return None
    reach = [abs(each.truth - each.own) / each.own_scale * each.new_scale for each in left_out]
    lower = sorted((each.new - far for each, far in zip(left_out, reach, strict=True)), reverse=True)
    upper = sorted(each.new + far for each, far in zip(left_out, reach, strict=True))
    return lower[rank - 1], upper[rank - 1]
