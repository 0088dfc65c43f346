# SPDX-License-Identifier: Apache-2.0
"""Values that were measured apart, as sides of an unpaired comparison, and the words for it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from tare.analyze.contrasts import between_two
from tare.records import ChangeWord, Direction, Estimate
from tare.statistics.contrasts import widened
from tare.statistics.estimate import as_fraction, leaves_out_0, lies_within, transformed
from tare.statistics.evidence import Reach, interval
from tare.statistics.multiplicity import ERROR
from tare.statistics.unpaired import (
    Side,
    unpaired_difference,
    unpaired_difference_p,
    unpaired_equivalence_p,
)


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


def change_word(change: Estimate, margin: float) -> ChangeWord:
    """What the interval of a change permits to say, as it is printed beside it."""
    if lies_within(change, margin):
        return ChangeWord.ALIKE
    if leaves_out_0(change):
        return ChangeWord.LARGER if change.point > 0 else ChangeWord.SMALLER
    return ChangeWord.UNDECIDED


@dataclass(frozen=True, slots=True)
class Apart:
    """Two sides of a claim that were measured apart."""

    before: Side
    after: Side
    margin: float
    """The fraction that counts as no change."""

    def change(self, error: float) -> Estimate:
        """The change as a fraction, with an interval that misses with a chance of about ``error``."""
        return as_fraction(unpaired_difference(self.before, self.after, error))

    def difference_p(self) -> float:
        """P-value of "no change" if it is at most ``ERROR``, else 1."""
        return unpaired_difference_p(self.before, self.after, ERROR)

    def any_word_p(self) -> float:
        """The least error at which the interval permits a word, if it is at most ``ERROR``, else 1."""
        margin = math.log1p(self.margin)
        alike = 2 * unpaired_equivalence_p(self.before, self.after, margin, ERROR / 2)
        return min(1.0, self.difference_p(), alike)
