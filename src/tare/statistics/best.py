# SPDX-License-Identifier: Apache-2.0
"""Which of several candidates is best, where the first stays unless another is reliably better.

In: what each candidate cost in turns, in each of which all ran once in random order. The winner is the one with the
smallest median. It replaces the first only if the interval of the mean of log(first / winner) over their common turns
lies above 0, at a level that Bonferroni's rule raises by the number of the first's rivals: so in at most one of forty
scans of equal candidates the first is replaced.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tare.statistics.estimate import LEVEL, Estimate, as_fraction
from tare.statistics.student import mean_estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The outcome of a comparison."""

    rival: int | None
    """Place of the best candidate but the first; ``None``: none ran often enough."""
    lead: Estimate | None
    """How much more the first costs than that one, as a fraction."""
    place: int
    """Of the one to take."""


def best_of(costs: Sequence[Mapping[int, float]], least_turns: int) -> Best:
    """Compare candidates by turn → cost, above 0; those with fewer than ``least_turns`` (2 or more) take no part."""
    rivals = {
        place: statistics.median(own.values())
        for place, own in enumerate(costs)
        if place and len(own.keys() & costs[0].keys()) >= least_turns
    }
    if not rivals:
        return Best(rival=None, lead=None, place=0)
    rival = min(rivals, key=rivals.__getitem__)
    first, other = costs[0], costs[rival]
    logs = [math.log(first[turn] / other[turn]) for turn in sorted(first.keys() & other.keys())]
    lead = as_fraction(mean_estimate(logs, 1 - (1 - LEVEL) / (len(costs) - 1)))
    is_better = rivals[rival] < statistics.median(first.values()) and lead.low is not None and lead.low > 0
    return Best(rival=rival, lead=lead, place=rival if is_better else 0)
