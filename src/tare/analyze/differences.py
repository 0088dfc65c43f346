# SPDX-License-Identifier: Apache-2.0
"""An overhead in words: as more or less time, and of a rate as a higher or lower rate.

Inside Tare an overhead is always time per unit of work. A reader of a metric called bandwidth expects the bandwidth's
own change: an overhead of -55 % is 2.2 times native's bandwidth.
"""

import math

from tare.records import Direction, Estimate, Word
from tare.statistics.estimate import transformed
from tare.units import TIMES_FROM, percent_ends, signed, times_ends

RATE_TIMES_FROM = 1.0
"""A gain of 100 %: twice native's rate is easier to read than "100 % higher"."""


def own_change(overhead: Estimate, direction: Direction) -> Estimate:
    """The change of the metric itself, as a fraction: of a time the overhead, of a rate that of work per time."""
    if direction is Direction.LESS:
        return overhead
    turned = Estimate(
        point=-_log(overhead.point),
        low=None if overhead.high is None else -_log(overhead.high),
        high=None if overhead.low is None else -_log(overhead.low),
        level=overhead.level,
        n=overhead.n,
    )
    return transformed(turned, math.expm1)


def _log(fraction: float) -> float:
    """Of the ratio; garbage values may lie at its end."""
    return math.log1p(max(fraction, math.nextafter(-1.0, 0.0)))


def in_times(change: Estimate, direction: Direction) -> bool:
    """Whether multiples are easier to read than per cents, for a metric's own change."""
    least = RATE_TIMES_FROM if direction is Direction.MORE else TIMES_FROM
    return (change.point if change.low is None else change.low) >= least


def difference_said(word: Word, shown: Estimate, direction: Direction) -> str:
    """For example "25 to 28 % slower", "4.7 to 6.1 % lower" of a rate, "at 2.1 to 2.3 times native's"."""
    change = own_change(shown, direction)
    if in_times(change, direction):
        low, high = times_ends(change.low or 0.0, change.high or 0.0)
        return f"at {low} to {high} times native's{' time' if direction is Direction.LESS else ''}"
    return f"{span_said(change, ' to ')} % {_compared(word, direction)}"


def span_said(change: Estimate, between: str) -> str:
    """Both ends without their common sign, the one nearer to 0 first; one figure if they are printed alike."""
    near, far = sorted(
        (end.lstrip("-") for end in percent_ends(change.low or 0.0, change.high or 0.0)), key=float
    )
    return near if near == far else f"{near}{between}{far}"


def _compared(word: Word, direction: Direction) -> str:
    if direction is Direction.LESS:
        return str(word)
    return "lower" if word is Word.SLOWER else "higher"


def range_said(shown: Estimate, direction: Direction) -> str:
    """The metric's own change with signs, such as "-1.2 to +3.5 %"."""
    change = own_change(shown, direction)
    return signed_range(change.low or 0.0, change.high or 0.0)


def signed_range(low: float, high: float, unit: str = "%") -> str:
    """Such as "-1.2 to +3.5 %"; ``unit``: "points" for the change of an overhead."""
    first, second = map(signed, percent_ends(low, high))
    return f"{first} to {second} {unit}"
