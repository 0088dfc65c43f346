# SPDX-License-Identifier: Apache-2.0
"""Whether a claim about the typical run holds for the mean too, and what a sentence adds where it may not."""

import math
from dataclasses import dataclass

from tare.analyze.differences import in_times, own_change, signed_range
from tare.analyze.slow_runs import SLOW, most_cost, most_gain
from tare.records import Direction, Estimate, SlowRuns, Verdict, Word
from tare.units import DASH, times_ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Qualification:
    """Why a claim is one about the typical run alone; at least one field says so."""

    mean: Estimate | None
    """The mean overhead, as a fraction, where it may lie beyond what the claim allows."""
    slow: SlowRuns | None
    """Runs that may cost more in the mean than the claim allows; in turns slices, and only where the mean may too."""
    slow_starts: SlowRuns | None
    """The same of the nodes' starts, in turns."""


def qualification(verdict: Verdict) -> Qualification | None:
    """What limits a verdict to the typical run; ``None``: nothing, or there is no claim to limit.

    *Within* and *costs at most* hold for the mean if its interval lies inside, and if slow starts, of which a few
    blocks may have met none, cost no more at their highest possible rate. A difference holds for it if its estimate
    lies between half the near end and twice the far one: the claim is then right within a factor of two.
    """
    overhead, (low, high) = verdict.overhead, _allowed(verdict)
    if verdict.word not in (Word.WITHIN, Word.BOUNDED):
        beyond = not low <= overhead.mean.point <= high
        return Qualification(mean=overhead.mean, slow=None, slow_starts=None) if beyond else None
    mean = None if _lies(overhead.mean, low, high) else overhead.mean
    slow = None if overhead.slow_starts and mean is None else overhead.slow
    slow, starts = _unbounded(slow, low, high), _unbounded(overhead.slow_starts, low, high)
    return Qualification(mean=mean, slow=slow, slow_starts=starts) if mean or slow or starts else None


def qualified(claim: str, verdict: Verdict) -> str:
    """The claim, limited to the typical run where it may not hold for the mean."""
    limit = qualification(verdict)
    return (
        f"{typically(verdict)}{claim}{_said(limit, verdict.overhead.summary.direction)}" if limit else claim
    )


def typically(verdict: Verdict) -> str:
    """What precedes a claim of the typical run alone; empty for other claims."""
    return "typically " if qualification(verdict) else ""


def word_said(verdict: Verdict) -> str:
    """The word with its figure, as narrow tables and pictures name it, such as "typically ±5 %"."""
    if not (only := typically(verdict)):
        return verdict.said
    if verdict.word is Word.WITHIN:
        return f"{only}\N{PLUS-MINUS SIGN}{100 * (verdict.within or verdict.margin):g} %"
    if verdict.word is Word.BOUNDED:
        return f"{only}\N{LESS-THAN OR EQUAL TO} {verdict.bound_percent} %"
    return f"{only}{verdict.said}"


def _allowed(verdict: Verdict) -> tuple[float, float]:
    """Lowest and highest mean overhead, as fractions, for which the claim needs no qualification."""
    shown, margin = verdict.shown, verdict.within or 0.0
    if verdict.word is Word.WITHIN:
        return -margin, margin
    if verdict.word is Word.BOUNDED:
        return -math.inf, verdict.at_most or 0.0
    if verdict.word is Word.UNDECIDED or shown.low is None or shown.high is None:
        return -math.inf, math.inf
    return min(shown.low / 2, 2 * shown.low), max(shown.high / 2, 2 * shown.high)


def _lies(mean: Estimate, low: float, high: float) -> bool:
    return mean.low is not None and mean.high is not None and low <= mean.low and mean.high <= high


def _unbounded(slow: SlowRuns | None, low: float, high: float) -> SlowRuns | None:
    """Slow runs, if they alone may move the mean out of ``low`` to ``high``."""
    return slow if slow and (most_cost(slow) > high or most_gain(slow) > -low) else None


def _said(limit: Qualification, direction: Direction) -> str:
    counts = [(each, noun) for each, noun in ((limit.slow_starts, "start"), (limit.slow, "run")) if each]
    seen = [_slow_said(each, noun) for each, noun in counts if each.slow or each.native_slow]
    said = f", but {' and '.join(seen)}" if seen else ""
    if limit.mean is not None:
        said += f"; {_mean_said(limit.mean, direction)} in the mean"
    return said or "".join(
        f"; none of {each.runs} {noun}s was {100 * SLOW:g} % slower" for each, noun in counts[:1]
    )


def _slow_said(slow: SlowRuns, noun: str) -> str:
    natively = f"{slow.native_slow} of {slow.native_runs}"
    if not slow.slow:
        return f"natively {natively} {noun}s {_were(slow.native_slow, slow.native_by)}"
    beside = f" (natively {natively} by {100 * (slow.native_by or 0.0):.0f} %)" if slow.native_slow else ""
    return f"{slow.slow} of {slow.runs} {noun}s {_were(slow.slow, slow.by)}{beside}"


def _were(count: int, by: float | None) -> str:
    return f"{'were' if count > 1 else 'was'} slower by {100 * (by or 0.0):.0f} %"


def _mean_said(mean: Estimate, direction: Direction) -> str:
    """Its interval as the metric's own change, such as "+1.9 to +4.1 %"; its point where it has none."""
    change = own_change(mean, direction)
    low, high = (change.point if end is None else end for end in (change.low, change.high))
    return (
        f"{DASH.join(times_ends(low, high))} times native's"
        if in_times(change, direction)
        else signed_range(low, high)
    )
