# SPDX-License-Identifier: Apache-2.0
"""How an imported arm differs from the reference, in words."""

from tare.records import ChangeWord, Estimate, ImportedDifference
from tare.statistics.blocks import LEAST_BLOCKS
from tare.units import DASH, percent_decimals, percent_digits, signed


def difference_said(difference: ImportedDifference) -> str:
    """Such as "docker takes 12-14 % more time than native: wall_s from 1.2 to 1.36 s (n = 10, 10)"."""
    where = named(difference.subject, difference.metric)
    before, after = difference.before, difference.after
    figures = f"{where} from {before.point:.4g} to {after.point:.4g} {difference.unit}".rstrip()
    return f"{_claim(difference)}: {figures} (n = {before.n}, {after.n})"


def named(subject: str, metric: str) -> str:
    """The metric, and of what."""
    return f"{metric} of {subject}" if subject else metric


def _claim(difference: ImportedDifference) -> str:
    arm, reference, change = difference.arm, difference.reference, difference.change
    if change.low is None or change.high is None:
        return (
            f"{arm} against {reference}: no verdict and no interval, as both need {LEAST_BLOCKS} values"
        )
    if difference.word is ChangeWord.UNDECIDED:
        return f"{arm} against {reference}: undecided, {_range(change)}{_alone(difference)}"
    if difference.word is ChangeWord.ALIKE:
        return f"{arm} takes as long as {reference}, {_range(change)}"
    return f"{arm} takes {_by(change)} time than {reference}"


def _by(change: Estimate) -> str:
    """The interval as a range of percentages, the smaller first."""
    near, far = sorted(abs(end) for end in (change.low, change.high) if end is not None)
    decimals = percent_decimals(far - near)
    ends = f"{percent_digits(near, decimals)}{DASH}{percent_digits(far, decimals)}"
    return f"{ends} % {'more' if change.point > 0 else 'less'}"


def _range(change: Estimate) -> str:
    low, high = change.low or 0.0, change.high or 0.0
    decimals = percent_decimals(high - low)
    return f"{signed(percent_digits(low, decimals))} to {signed(percent_digits(high, decimals))} % of the time"


def _alone(difference: ImportedDifference) -> str:
    if difference.alone is ChangeWord.UNDECIDED:
        return ""
    return f", {difference.alone} by itself but not among {difference.claims} claims"
