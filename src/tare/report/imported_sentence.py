# SPDX-License-Identifier: Apache-2.0
"""How an imported arm differs from the reference, in words."""

from tare.analyze.differences import span_said
from tare.drawing.words import interval_percent, quantity
from tare.foreign import one_line
from tare.records import ChangeWord, Direction, Estimate, ImportedDifference
from tare.statistics.blocks import LEAST_BLOCKS
from tare.units import DASH, TIMES_FROM, times_ends

_TIME = {Direction.LESS: "time", Direction.MORE: "time for the same work"}
"""A rate is told by the time that its work takes, like all overheads."""
_ALONE = {ChangeWord.LARGER: "more time", ChangeWord.SMALLER: "less time", ChangeWord.ALIKE: "alike"}


def difference_said(difference: ImportedDifference) -> str:
    """Such as "docker takes 12-14 % more time than native: wall_s from 1.2 s to 1.36 s (n = 10, 10)"."""
    before, after = difference.before, difference.after
    unit = one_line(difference.unit, 40)
    values = f"from {quantity(before.point, unit)} to {quantity(after.point, unit)}"
    return f"{_claim(difference)}: {what(difference.subject, difference.metric)} {values} (n = {before.n}, {after.n})"


def what(subject: str, metric: str) -> str:
    """The metric, and of what."""
    return one_line(f"{metric} of {subject}" if subject else metric)


def _claim(difference: ImportedDifference) -> str:
    arm, reference = one_line(difference.arm), one_line(difference.reference)
    change = difference.change
    if change.low is None or change.high is None:
        return f"{arm} against {reference}: no interval and no verdict, as both need {LEAST_BLOCKS} values"
    if difference.word is ChangeWord.UNDECIDED:
        differs = f"its time differs by {interval_percent(change)}"
        return f"{arm} against {reference}: undecided, {differs}{_alone(difference)}"
    if difference.word is ChangeWord.ALIKE:
        return f"{arm} takes as long as {reference}, its time differs by {interval_percent(change)}"
    return f"{arm} takes {_by(change, _TIME[difference.direction])} {reference}"


def _by(change: Estimate, time: str) -> str:
    """The interval as a range, the end nearer to 0 first; as multiples from ten times on."""
    low, high = change.low or 0.0, change.high or 0.0
    if low >= TIMES_FROM:
        return f"{' to '.join(times_ends(low, high))} times as much {time} as"
    return f"{span_said(change, DASH)} % {'more' if change.point > 0 else 'less'} {time} than"


def _alone(difference: ImportedDifference) -> str:
    if difference.alone is ChangeWord.UNDECIDED:
        return ""
    return f", {_ALONE[difference.alone]} by itself but not among {difference.claims} claims"
