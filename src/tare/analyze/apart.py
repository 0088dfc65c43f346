# SPDX-License-Identifier: Apache-2.0
"""Values that were measured apart, as sides of an unpaired comparison, and the words for it."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from tare.analyze.contrasts import between_two
from tare.records import ChangeWord, Direction, Estimate
from tare.statistics.contrasts import widened
from tare.statistics.estimate import transformed
from tare.statistics.evidence import Reach, interval
from tare.statistics.multiplicity import holds
from tare.statistics.unpaired import Side


def side_of_values(log_times: Sequence[float]) -> Side:
    """Logarithms of the time per work, in their order: exact signed ranks, widened as far as they depend."""
    return partial(interval, widened(between_two(log_times)), Reach.at_once(len(log_times)))


def own_value(log_time: Estimate, direction: Direction) -> Estimate:
    """The metric's own value, from the logarithm of the time per work."""
    if direction is Direction.LESS:
        return transformed(log_time, math.exp)
    turned = replace(
        log_time,
        point=-log_time.point,
        low=None if log_time.high is None else -log_time.high,
        high=None if log_time.low is None else -log_time.low,
    )
    return transformed(turned, math.exp)


def change_word(change: Estimate, difference_p: float, equivalence_p: float) -> ChangeWord:
    """What may be said of a change with these p-values, adjusted or not."""
    if holds(equivalence_p):
        return ChangeWord.ALIKE
    if holds(difference_p):
        return ChangeWord.LARGER if change.point > 0 else ChangeWord.SMALLER
    return ChangeWord.UNDECIDED
