# SPDX-License-Identifier: Apache-2.0
"""A verdict in words."""

from tare.analyze.qualification import qualified
from tare.records import Estimate, Family, Overhead, Verdict, Word
from tare.statistics.blocks import fewest_blocks
from tare.units import DASH, TIMES_FROM, percent_decimals, percent_digits, signed

_PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
_ELSE = "a quieter machine or longer runs"


def claim_said(verdict: Verdict) -> str:
    """Such as "slower by 5.2-8.1 % (n = 10)"; slower means more time per unit of work."""
    overhead = verdict.overhead
    remarkable = verdict.below_noise_floor and verdict.word in (Word.SLOWER, Word.FASTER)
    remark = f", but {_noise_said(overhead.noise_floor)}" if remarkable else ""
    return f"{_with_look(_claim(verdict), overhead)}{remark}"


def _with_look(claim: str, overhead: Overhead) -> str:
    """Put into the brackets with the count that blocks were added to a finished result."""
    if not overhead.looks or overhead.looks[-1].spent <= 1:
        return claim
    count = f"(n = {overhead.typical.n}"
    return claim.replace(count, f"{count} at a second look", 1)


def _claim(verdict: Verdict) -> str:
    typical, word = verdict.overhead.typical, verdict.word
    if typical.low is None or typical.high is None:
        return _too_few(typical)
    if word is Word.WITHIN:
        return _counted(qualified(f"{verdict.said} of native", verdict), typical)
    if word is Word.BOUNDED:
        return _counted(qualified(f"costs {verdict.said}", verdict), typical)
    if word is Word.UNDECIDED:
        return f"undecided: {signed_range(typical.low, typical.high)} ({_why(verdict)})"
    return _counted(qualified(_difference(word, typical.low, typical.high), verdict), typical)


def _counted(claim: str, typical: Estimate) -> str:
    return f"{claim} (n = {typical.n})"


def _difference(word: Word, low: float, high: float) -> str:
    if low >= TIMES_FROM:
        return f"{word.value}: {1 + low:.0f}{DASH}{1 + high:.0f} times native's time"
    near, far = sorted((abs(low), abs(high)))
    return f"{word.value} by {_range(near, far)}"


def _too_few(typical: Estimate) -> str:
    needed = fewest_blocks(1 - typical.level)
    if typical.n >= needed:
        return f"undecided: the looks so far may use up too little of the error (n = {typical.n})"
    return f"undecided: a {100 * typical.level:g} % interval needs at least {needed} blocks (n = {typical.n})"


def _why(verdict: Verdict) -> str:
    """Size of the noise, and what would help against it."""
    overhead = verdict.overhead
    count = f"n = {overhead.typical.n}"
    noise = None if overhead.noise_floor.low is None else _noise_said(overhead.noise_floor)
    return "; ".join(filter(None, (count, noise, advice(verdict.more_blocks))))


def advice(more_blocks: int | None) -> str:
    """Say what would decide: the number of further blocks, and what else helps."""
    if more_blocks is None:
        return f"more blocks alone would hardly decide; {_ELSE} would help"
    return f"about {more_blocks} more block{'s' if more_blocks > 1 else ''}, {_ELSE} would help"


def _noise_said(noise_floor: Estimate) -> str:
    extent = max(abs(noise_floor.low or 0.0), abs(noise_floor.high or 0.0))
    return f"native against native differs by up to {_PLUS_MINUS}{_percent(extent, extent)} %"


def _range(near: float, far: float) -> str:
    low, high = _percent(near, far - near), _percent(far, far - near)
    return f"{low} %" if low == high else f"{low}{DASH}{high} %"


def signed_range(low: float, high: float) -> str:
    return f"{signed(_percent(low, high - low))} to {signed(_percent(high, high - low))} %"


def _percent(value: float, width: float) -> str:
    """``value`` with the digits that an interval of this width supports."""
    return percent_digits(value, percent_decimals(width))


def claim_in_family(verdict: Verdict, by_itself: str) -> str:
    """Add the family to a verdict's claim; where the claim does not hold there, quote the claim ``by_itself``.

    Such as "slower by 5.2-8.1 % (n = 10; 1 of 6 primary claims)". A primary claim alone stays as it is.
    """
    standing, alone = verdict.standing, verdict.alone
    if standing is None or (standing.size == 1 and standing.family is Family.PRIMARY):
        return verdict.claim
    if verdict.word is Word.UNDECIDED and alone is not Word.UNDECIDED:
        return _not_together(verdict, by_itself, standing.family, standing.size)
    return _with_family(verdict.claim, standing.family, standing.size)


def _with_family(claim: str, family: Family, size: int) -> str:
    """Put the family into the last brackets with the count, which every claim has."""
    head, count, tail = claim.rpartition("(n = ")
    inside, bracket, rest = tail.partition(")")
    if not count or not bracket:
        return claim
    return f"{head}{count}{inside}; {_named(family, size)}){rest}"


def _named(family: Family, size: int) -> str:
    return f"1 of {size} {_plural(family)}"


def _plural(family: Family) -> str:
    return "primary claims" if family is Family.PRIMARY else "exploratory comparisons"


def _not_together(verdict: Verdict, by_itself: str, family: Family, size: int) -> str:
    return f"undecided among {size} {_plural(family)}; by itself {by_itself}; {advice(verdict.more_blocks)}"
