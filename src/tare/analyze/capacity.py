# SPDX-License-Identifier: Apache-2.0
"""How many neighbours fit: which number to try next, and what the tried ones show together.

A loss only grows with the number of neighbours, so the search halves what is left: between the largest number shown to
fit and the smallest shown not to. A number that its blocks leave undecided stays within the answer's interval, and both
ends are then sought by themselves. Every test has an equal share of the error, so the interval holds for all of them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from tare.analyze.contrasts import between_two
from tare.records import Capacity, CapacityStep, Ruling, SharingLoss, exceeding, fitting
from tare.statistics.contrasts import estimate
from tare.statistics.estimate import LEVEL, as_fraction


def next_count(rulings: Mapping[int, Ruling], most: int) -> int | None:
    """The number of neighbours to try next, 1 to ``most``; ``None``: the answer is as close as it gets."""
    fits, exceeds = fitting(rulings), exceeding(rulings) or most + 1
    between = sorted(count for count in rulings if fits < count < exceeds)
    lowest, highest = (between[0], between[-1]) if between else (exceeds, exceeds)
    for low, high in ((fits, lowest), (highest, exceeds)):
        if high - low > 1:
            return (low + high) // 2
    return None


def most_tests(most: int, looks: int) -> int:
    """The most tests of a search: two ends, each found by halving, with so many looks at each number."""
    return 2 * math.ceil(math.log2(most + 1)) * looks


def step_of(
    measured: SharingLoss | None, neighbours: int, limit: float, tests: int, looks: Sequence[int]
) -> CapacityStep:
    """Decide at the first of the ``looks``, numbers of blocks, that decides; by both ends of an interval.

    The interval misses with a chance of 5 % divided by the number of ``tests``. A block that was lost counts at its
    look all the same, so that further blocks never change what an earlier look decided.
    """
    if measured is None or not measured.summary.blocks:
        return CapacityStep(neighbours=neighbours, loss=None, ruling=Ruling.UNDECIDED)
    if measured.withheld:
        return CapacityStep(
            neighbours=neighbours, loss=measured.typical, ruling=Ruling.UNDECIDED, withheld=True
        )
    losses = dict(zip(measured.summary.blocks, map(fmean, measured.summary.log_losses), strict=True))
    step = None
    for blocks in looks:
        until = [loss for block, loss in losses.items() if block < blocks]
        if not until:
            continue
        loss = as_fraction(estimate(between_two(until), (1 - LEVEL) / tests))
        ruling = Ruling.UNDECIDED
        if loss.low is not None and loss.low > limit:
            ruling = Ruling.EXCEEDED
        elif loss.high is not None and loss.high <= limit:
            ruling = Ruling.KEPT
        step = CapacityStep(neighbours=neighbours, loss=loss, ruling=ruling)
        if ruling is not Ruling.UNDECIDED or blocks > max(losses):
            break
    return step or CapacityStep(neighbours=neighbours, loss=None, ruling=Ruling.UNDECIDED)


def answered(environment: str, limit: float, most: int, steps: Sequence[CapacityStep]) -> Capacity:
    """The answer for one environment, with its sentence."""
    rising = tuple(sorted(steps, key=lambda step: step.neighbours))
    capacity = Capacity(environment=environment, limit=limit, most=most, steps=rising)
    return replace(capacity, sentence=_said(capacity))


def _said(capacity: Capacity) -> str:
    limit, exceeds = f"{100 * capacity.limit:g} %", capacity.exceeds
    if exceeds is None and capacity.fits == capacity.most:
        return f"{_neighbours(capacity.fits)}, the most that were tried, cost at most {limit}"
    if exceeds == 1:
        return f"no neighbour fits: the first costs more than {limit}"
    if exceeds == capacity.fits + 1:
        fit = "fits" if capacity.fits == 1 else "fit"
        return f"{_neighbours(capacity.fits)} {fit}: one more costs more than {limit}"
    return f"{_between(capacity, limit)}; {_why(capacity)}" if capacity.fits or exceeds else _why(capacity)


def _between(capacity: Capacity, limit: str) -> str:
    """What is shown although the end is not."""
    if capacity.exceeds is None:
        return f"{_neighbours(capacity.fits)} or more fit before the loss exceeds {limit}"
    highest = capacity.exceeds - 1
    return f"{capacity.fits} to {_neighbours(highest)} fit before the loss exceeds {limit}"


def _why(capacity: Capacity) -> str:
    """What kept the search from an answer."""
    lost = next((step for step in capacity.steps if step.lost), None)
    if lost is not None:
        return f"no block with {_neighbours(lost.neighbours)} is whole: {lost.lost}"
    if any(step.withheld for step in capacity.steps):
        return "this host was too busy to tell; repeat it on a quiet one"
    if not capacity.fits and capacity.exceeds is None:
        return "undecided whether any neighbour fits"
    return "undecided between" if capacity.exceeds else "undecided above"


def _neighbours(count: int) -> str:
    return "1 neighbour" if count == 1 else f"{count} neighbours"
