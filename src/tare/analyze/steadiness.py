# SPDX-License-Identifier: Apache-2.0
"""How the iterations of a start go on: levels found by change points, and the class they make.

After Barrett and others, *Virtual machine warmup blows hot and cold*, OOPSLA 2017 (doi 10.1145/3133876), with a penalty
of our own for short series.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tare.records import NATIVE, IterationCourse, IterationSeries, Steadiness, Verdict, Word
from tare.treat.pairing import FIRST

FEWEST = 8
"""With fewer iterations levels cannot be told from noise."""
_LEAST_LEVEL = 3
"""Fewer iterations are a spike, but at the beginning, where one may be cold."""
_SPIKE = 5.0
"""Standard deviations of a value from its neighbours."""
_LEAST_CHANGE = 0.005
"""Levels closer than this are the same: so little is nobody's steady state."""
_LATEST = 0.75
"""The last level must have begun in this part of the series."""
_MOST_UNSTEADY = 0.1
"""Share of an arm's starts; beyond it nothing is claimed of its steady state."""


def steadiness(series: Sequence[IterationSeries]) -> tuple[Steadiness, ...]:
    """The classes of each environment's starts; only of those with a complete series."""
    return tuple(
        Steadiness(
            cell=one.cell,
            environment=one.environment,
            metric=one.metric,
            iterations=max(map(len, one.starts)),
            counts=dict(Counter(map(course, one.starts))),
        )
        for one in series
        if one.starts
    )


def course(log_times: Sequence[float]) -> IterationCourse:
    """The class of one start's iterations, from ln(time per unit of work) of each in order."""
    if len(log_times) < FEWEST:
        return IterationCourse.SHORT
    values = without_spikes(log_times)
    begins = levels(values)
    means = [float(np.mean(part)) for part in np.split(values, begins)[1:]]
    while len(means) > 1 and abs(means[-1] - means[-2]) < _LEAST_CHANGE:
        means.pop()
        begins.pop()
    if all(abs(mean - means[-1]) < _LEAST_CHANGE for mean in means):
        return IterationCourse.FLAT
    if begins[-1] > _LATEST * len(log_times):
        return IterationCourse.UNSTEADY
    fastest = means[-1] <= min(means) + _LEAST_CHANGE
    return IterationCourse.WARM_UP if fastest else IterationCourse.SLOWDOWN


def without_spikes(values: Sequence[float]) -> NDArray[np.float64]:
    """Put the median of its neighbourhood of five in the place of each value far from it; the beginning stays.

    A single slow run is no level (Hampel's filter; Davies and Gather, JASA 88 (1993) 782-792).
    """
    data = np.asarray(values, dtype=np.float64)
    found, limit = data.copy(), _SPIKE * _noise(data)
    for place in range(_LEAST_LEVEL, len(data)):
        middle = float(np.median(data[place - 2 : place + 3]))
        if abs(data[place] - middle) > limit:
            found[place] = middle
    return found


def levels(values: Sequence[float] | NDArray[np.float64]) -> list[int]:
    """Where each level begins, 0 first: the division with the least squared deviations and a penalty for each level.

    Optimal partitioning (Jackson and others, IEEE Signal Processing Letters 12 (2005) 105-108). The noise is that of
    the differences between neighbours, of which a change of level spoils but one.
    """
    n = len(values)
    data = np.asarray(values, dtype=np.float64)
    penalty = _penalty(n) * _noise(data) ** 2
    sums, squares = np.concatenate([[0.0], np.cumsum(data)]), np.concatenate([[0.0], np.cumsum(data**2)])
    best, last = [0.0], [0]
    for end in range(1, n + 1):
        begins = np.concatenate([[0], np.arange(1, end - _LEAST_LEVEL + 1)])
        costs = squares[end] - squares[begins] - (sums[end] - sums[begins]) ** 2 / (end - begins)
        totals = np.asarray(best)[begins] + costs + penalty
        chosen = int(np.argmin(totals))
        last.append(int(begins[chosen]))
        best.append(float(totals[chosen]))
    found, end = [], n
    while end > 0:
        found.append(last[end])
        end = last[end]
    return found[::-1]


def _noise(data: NDArray[np.float64]) -> float:
    """Standard deviation of one value, from the median absolute difference of neighbours; a floor keeps it above 0."""
    normal_quartile = 0.6745
    typical = float(np.median(np.abs(np.diff(data)))) / (normal_quartile * math.sqrt(2))
    return max(typical, 1e-9)


def _penalty(n: int) -> float:
    """Squared standard deviations per level: flat series of any length from 8 on are called flat in 95 % or more."""
    return 3.0 * math.log(n) * (1 + 20 / n)


def without_steady_claims(verdicts: Sequence[Verdict], found: Sequence[Steadiness]) -> tuple[Verdict, ...]:
    """Take the word from every verdict on a steady metric where too many starts of an arm reached no steady state.

    Native's starts count for all environments of the cell. A metric of the first iteration makes no such claim.
    """
    unsteady = [
        one for one in found if one.counts.get(IterationCourse.UNSTEADY, 0) > _MOST_UNSTEADY * one.starts
    ]
    return tuple(_judged(verdict, unsteady) for verdict in verdicts)


def _judged(verdict: Verdict, unsteady: Sequence[Steadiness]) -> Verdict:
    summary = verdict.overhead.summary
    arms = {NATIVE, summary.environment}
    own = [one for one in unsteady if one.cell == summary.cell and one.environment in arms]
    if not own or summary.metric.endswith(FIRST):
        return verdict
    told = ", ".join(
        f"{one.counts[IterationCourse.UNSTEADY]} of {one.starts} starts of {one.environment}" for one in own
    )
    overhead = verdict.overhead
    return replace(
        verdict,
        overhead=replace(
            overhead,
            typical=replace(overhead.typical, low=None, high=None),
            mean=replace(overhead.mean, low=None, high=None),
            tail_cost=False,
        ),
        word=Word.UNDECIDED,
        within=None,
        at_most=None,
        sentence=(
            f"{summary.environment}: undecided: {told} reached no steady state (n = {overhead.typical.n})"
        ),
        more_blocks=None,
        below_noise_floor=False,
    )
