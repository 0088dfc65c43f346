# SPDX-License-Identifier: Apache-2.0
"""How several values of one metric become one.

Neither rates nor ratios are averaged directly: rates are first turned into time per unit of work, and ratios are
averaged as logarithms (Hoefler and Belli, SC15, rules 3 and 4).
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tare.records import Direction, Sample

LEAST, MOST = 1e-50, 1e50
"""No clock or counter gives values beyond these in any unit; the cube of a ratio of two is still a number."""


def usable(value: float) -> bool:
    """Whether a time or a rate can be compared at all: a number above 0 that can have been measured."""
    return LEAST <= value <= MOST


def time_per_work(value: float, direction: Direction) -> float:
    """Keep a time as it is; turn a rate into the time that one unit of work takes."""
    return value if direction is Direction.LESS else 1 / value


def log_time_per_work(value: float, direction: Direction) -> float:
    """Take ln of ``time_per_work`` without the division, so that no rate is too small."""
    return math.log(value) if direction is Direction.LESS else -math.log(value)


def median(values: Iterable[float], direction: Direction) -> float:
    """Take the median of time per unit of work, in the metric's own unit; ``values`` is not empty.

    With an even number of rates this joins the middle two by their harmonic mean.
    """
    middle = statistics.median(time_per_work(value, direction) for value in values)
    return time_per_work(middle, direction)


def whole_trial(samples: Sequence[Sample], instances: int) -> float | None:
    """Give one trial's value of a metric, from all its samples of that metric.

    A sample of the whole trial is taken as it is. Otherwise ``instances`` instances ran at once: rates add up, and a
    time is that of the slowest instance. ``None`` when an instance is missing or appears twice, or when a value is not
    ``usable``: an incomplete trial does not count. Iterations are joined last, by the mean of their logarithms.
    """
    if samples and samples[0].round is not None:
        return _over_rounds(samples, instances)
    iterations: dict[int | None, list[Sample]] = {}
    for sample in samples:
        iterations.setdefault(sample.iteration, []).append(sample)
    values = [one_run(runs, instances) for runs in iterations.values()]
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return known[0] if len(known) == 1 else math.exp(statistics.fmean(map(math.log, known)))


def _over_rounds(samples: Sequence[Sample], instances: int) -> float | None:
    """The arithmetic mean of the slices' times per unit of work: the total cost, slow slices included."""
    rounds: dict[int | None, list[Sample]] = {}
    for sample in samples:
        rounds.setdefault(sample.round, []).append(sample)
    values = [value for run in rounds.values() if (value := one_run(run, instances)) is not None]
    if not values:
        return None
    direction = samples[0].direction
    return time_per_work(statistics.fmean(time_per_work(value, direction) for value in values), direction)


def over_iterations(samples: Sequence[Sample]) -> list[Sample]:
    """Join the iterations of each instance, by the mean of the values' logarithms; unless one is not ``usable``.

    The mean logarithm of a rate and of its reciprocal time differ only in sign.
    """
    by_instance: dict[int | None, list[Sample]] = {}
    for sample in samples:
        by_instance.setdefault(sample.instance, []).append(sample)
    joined = []
    for runs in by_instance.values():
        repeated = len(runs) > 1 and all(run.iteration is not None and usable(run.value) for run in runs)
        mean = [math.exp(statistics.fmean(math.log(run.value) for run in runs))] if repeated else []
        joined += [replace(runs[0], value=value, iteration=None) for value in mean] or runs
    return joined


def one_run(samples: Sequence[Sample], instances: int) -> float | None:
    """One value of all simultaneous instances, or of the whole trial; ``None`` as in ``whole_trial``."""
    if not all(usable(sample.value) for sample in samples):
        return None
    whole = [sample.value for sample in samples if sample.instance is None]
    if whole:
        return whole[0] if len(whole) == 1 else None
    if len(samples) != instances or len({sample.instance for sample in samples}) != instances:
        return None
    values = [sample.value for sample in samples]
    joined = max(values) if samples[0].direction is Direction.LESS else sum(values)
    return joined if usable(joined) else None
