# SPDX-License-Identifier: Apache-2.0
"""A verdict in words."""

from collections.abc import Iterator

from tare.analyze.differences import in_times, own_change, range_said, span_said
from tare.analyze.load_said import effect_said, even_if_said, without_said
from tare.analyze.qualification import qualified
from tare.records import Direction, Estimate, Family, Verdict, Word
from tare.statistics.blocks import fewest_blocks
from tare.units import DASH, percent_ends, times_ends

_PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
_ELSE = "a quieter machine or longer runs"


def claim_said(verdict: Verdict) -> str:
    """Such as "slower by 5.2-8.1 % (n = 10; 1 of 6 primary claims)"; slower means more time per unit of work."""
    if verdict.shown.low is None:
        return _too_few(verdict)
    notes = "; ".join(_notes(verdict))
    return f"{_head(verdict)} ({notes}){_remark(verdict)}"


def _head(verdict: Verdict) -> str:
    """The word with its figures."""
    if verdict.word is Word.WITHIN:
        return qualified(f"{verdict.said} of native", verdict)
    if verdict.word is Word.BOUNDED:
        return qualified(f"costs {verdict.said}", verdict)
    if verdict.word is Word.UNDECIDED:
        among = f" among {_family(verdict)}" if _only_alone(verdict) else ""
        return f"undecided{among}: {_range(verdict, verdict.shown)}"
    released = even_if_said(verdict) if verdict.released else ""
    return f"{qualified(_difference(verdict), verdict)}{released}"


def _only_alone(verdict: Verdict) -> bool:
    """Whether it would be decided if it were the only claim."""
    return verdict.word is Word.UNDECIDED and verdict.alone not in (None, Word.UNDECIDED)


def _notes(verdict: Verdict) -> Iterator[str]:
    """What the brackets hold: the count, the family, and of an undecided claim the noise and what would help."""
    overhead = verdict.overhead
    second = " at a second look" if overhead.looks and overhead.looks[-1].spent > 1 else ""
    yield f"n = {overhead.typical.n}{second}{without_said(verdict)}"
    if _only_alone(verdict):
        yield f"by itself {_range(verdict, overhead.typical)}"
    elif _family(verdict):
        yield f"1 of {_family(verdict)}"
    if verdict.word is Word.UNDECIDED:
        if overhead.noise_floor.low is not None:
            yield _noise_said(overhead.noise_floor)
        yield advice(verdict.more_blocks)


def _family(verdict: Verdict) -> str:
    """Such as "6 primary claims"; empty for a primary claim alone."""
    standing = verdict.standing
    if standing is None or (standing.size == 1 and standing.family is Family.PRIMARY):
        return ""
    kind = "primary claims" if standing.family is Family.PRIMARY else "exploratory comparisons"
    return f"{standing.size} {kind}"


def _remark(verdict: Verdict) -> str:
    if verdict.word not in (Word.SLOWER, Word.FASTER):
        return ""
    noise = f", but {_noise_said(verdict.overhead.noise_floor)}" if verdict.below_noise_floor else ""
    return noise if verdict.released or verdict.load is None else f"{noise}, but {effect_said(verdict.load)}"


def _range(verdict: Verdict, estimate: Estimate) -> str:
    return range_said(estimate, verdict.overhead.summary.direction)


def _difference(verdict: Verdict) -> str:
    """Such as "slower by 5.2-8.1 %", of a rate "faster: 2.1-2.3 times native's rate"."""
    word, direction = verdict.word, verdict.overhead.summary.direction
    change = own_change(verdict.shown, direction)
    if in_times(change, direction):
        times = DASH.join(times_ends(change.low or 0.0, change.high or 0.0))
        return f"{word}: {times} times native's {'time' if direction is Direction.LESS else 'rate'}"
    span = f"{span_said(change, DASH)} %"
    if direction is Direction.LESS:
        return f"{word} by {span}"
    return f"{word}: its rate is {span} {'lower' if word is Word.SLOWER else 'higher'}"


def _too_few(verdict: Verdict) -> str:
    typical = verdict.overhead.typical
    own = "" if typical.low is None else f"; by itself {_range(verdict, typical)}"
    notes = f"(n = {typical.n}{own})"
    if typical.n < (needed := fewest_blocks(1 - typical.level)):
        return f"undecided: a {100 * typical.level:g} % interval needs at least {needed} blocks {notes}"
    if typical.n < (needed := fewest_blocks(1 - verdict.shown.level)):
        return f"undecided: intervals of {_family(verdict)} that hold together need at least {needed} blocks {notes}"
    return f"undecided: the looks so far may use up too little of the error {notes}"


def advice(more_blocks: int | None) -> str:
    """Say what would decide: the number of further blocks, and what else helps."""
    if more_blocks is None:
        return f"more blocks alone would hardly decide; {_ELSE} would help"
    return f"about {more_blocks} more block{'s' if more_blocks > 1 else ''}, {_ELSE} would help"


def _noise_said(noise_floor: Estimate) -> str:
    extent = max(abs(noise_floor.low or 0.0), abs(noise_floor.high or 0.0))
    return f"native against native differs by up to {_PLUS_MINUS}{percent_ends(0.0, extent)[1]} %"
