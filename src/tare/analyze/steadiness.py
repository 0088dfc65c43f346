# SPDX-License-Identifier: Apache-2.0
"""How the iterations of a start develop: levels by change points, and the class that they form.

After Barrett and others, *Virtual machine warmup blows hot and cold*, OOPSLA 2017 (doi 10.1145/3133876).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tare.records import NATIVE, IterationCourse, IterationSeries, Steadiness, Verdict, Word
from tare.statistics.levels import levels, without_spikes
from tare.treat.pairing import FIRST

FEWEST = 8
"""With fewer iterations levels cannot be distinguished from noise."""
_LEAST_CHANGE = 0.005
"""Levels closer than this are the same: so small a change is irrelevant to a steady state."""
_LATEST = 0.75
"""The last level must have begun in this part of the series."""
_MOST_UNSTEADY = 0.1
"""Share of an arm's starts; beyond it nothing is claimed about its steady state."""


def steadiness(series: Sequence[IterationSeries]) -> tuple[Steadiness, ...]:
    """The classes of each environment's starts; only starts with a complete series count."""
    return tuple(
        Steadiness(
            cell=iteration_series.cell,
            environment=iteration_series.environment,
            metric=iteration_series.metric,
            iterations=max(map(len, iteration_series.starts)),
            counts=dict(Counter(map(course, iteration_series.starts))),
        )
        for iteration_series in series
        if iteration_series.starts
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


def without_steady_claims(verdicts: Sequence[Verdict], arms: Sequence[Steadiness]) -> tuple[Verdict, ...]:
    """Withdraw the word of every verdict on a steady metric where too many starts of an arm reached no steady state.

    Native's starts count for all environments of the cell. A metric of the first iteration makes no such claim.
    """
    unsteady = [
        arm for arm in arms if arm.counts.get(IterationCourse.UNSTEADY, 0) > _MOST_UNSTEADY * arm.starts
    ]
    return tuple(_judged(verdict, unsteady) for verdict in verdicts)


def _judged(verdict: Verdict, unsteady: Sequence[Steadiness]) -> Verdict:
    summary = verdict.overhead.summary
    names = {NATIVE, summary.environment}
    own = [arm for arm in unsteady if arm.cell == summary.cell and arm.environment in names]
    if not own or summary.metric.endswith(FIRST):
        return verdict
    text = ", ".join(
        f"{arm.counts[IterationCourse.UNSTEADY]} of {arm.starts} starts of {arm.environment}" for arm in own
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
        claim=f"undecided: {text} reached no steady state (n = {overhead.typical.n})",
        more_blocks=None,
        below_noise_floor=False,
    )
