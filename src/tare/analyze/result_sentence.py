# SPDX-License-Identifier: Apache-2.0
"""The change of a figure from one result to another, in words."""

from tare.analyze.differences import span_said
from tare.records import NATIVE, ChangeWord, Estimate, ResultChange
from tare.units import DASH, percent_decimals, percent_digits, percent_ends, signed


def change_said(change: ResultChange) -> str:
    """Such as "docker's overhead on wall_s (work on 1c1p1i) fell between these two measurements, from +25 % ...".

    It is about two measurements, not about two versions: a difference between their days is part of it.
    """
    cell = change.cell
    place = f"{change.metric} ({cell.workload} on {cell.layout})"
    figures = _figures(change)
    subject = (
        f"native's {place}" if change.environment == NATIVE else f"{change.environment}'s overhead on {place}"
    )
    count = f"(n = {change.before.n}, {change.after.n})"
    if change.word is ChangeWord.UNDECIDED:
        return f"{subject}: undecided between these two measurements, {figures}: {_why(change)} {count}"
    if change.word is ChangeWord.ALIKE:
        return f"{subject} is alike in these two measurements, {figures}: {_range(change)} {count}"
    return f"{subject} {_moved(change)} between these two measurements, {figures}: {_by(change)} {count}"


def _figures(change: ResultChange) -> str:
    if change.environment == NATIVE:
        return f"from {change.before.point:.4g} to {change.after.point:.4g} {change.unit}".rstrip()
    return f"from {_percent(change.before)} to {_percent(change.after)}"


def _percent(overhead: Estimate) -> str:
    width = 0.0 if overhead.low is None or overhead.high is None else overhead.high - overhead.low
    return f"{signed(percent_digits(overhead.point, percent_decimals(width) if width else 1))} %"


def _moved(change: ResultChange) -> str:
    return "rose" if change.after.point > change.before.point else "fell"


def _by(change: ResultChange) -> str:
    own = change.points or change.change
    if own.low is None or own.high is None:
        return str(change.word)
    ends = span_said(own, DASH)
    if change.points is not None:
        return f"{change.word} by {ends} points"
    return f"{ends} % {'more' if change.word is ChangeWord.LARGER else 'less'} time for the same work"


def _range(change: ResultChange) -> str:
    own = change.points or change.change
    if own.low is None or own.high is None:
        return "no interval"
    low, high = map(signed, percent_ends(own.low, own.high))
    return f"{low} to {high} {'points' if change.points is not None else '% of the time'}"


def _why(change: ResultChange) -> str:
    if change.withheld is not None:
        return f"too busy to tell ({change.withheld})"
    if change.change.low is None:
        return "one of both has too few blocks for an interval, or a check was against it"
    if change.alone is not ChangeWord.UNDECIDED:
        return f"{_range(change)}, {change.alone} by itself but not among {change.claims} claims"
    return _range(change)
