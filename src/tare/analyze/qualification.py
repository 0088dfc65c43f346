# SPDX-License-Identifier: Apache-2.0
"""Whether a claim about the typical run holds for the mean too, and what a sentence adds where it may not."""

import math
from dataclasses import dataclass

from tare.analyze.slow_runs import SLOW, most_cost, most_gain
from tare.records import Estimate, Overhead, SlowRuns, Verdict, Word
from tare.units import DASH, TIMES_FROM, percent_decimals, percent_digits, signed


@dataclass(frozen=True, slots=True, kw_only=True)
class Qualification:
    """Why a claim is one about the typical run alone; at least one field says so."""

    mean: Estimate | None
    """The mean overhead, as a fraction, where its estimate lies beyond what the claim allows."""
    slow: SlowRuns | None
    """Runs (in turns: slices) that may cost more in the mean than the claim allows."""
    slow_starts: SlowRuns | None
    """The same of the nodes' starts, in turns."""


def qualification(verdict: Verdict) -> Qualification | None:
    """What limits a verdict to the typical run; ``None``: nothing, or there is no claim to limit.

    *Within* and *costs at most* hold for the mean if its estimate lies inside and if slow runs and starts, at their
    highest possible rates, cost no more together. For a difference the mean is to lie between half the near end and
    twice the far one: what the claim says of its direction and size is then right within a factor of two.
    """
    overhead, (low, high) = verdict.overhead, _allowed(verdict)
    slow, slow_starts = _unbounded(overhead, low, high) if _bounds(verdict) else (None, None)
    mean = None if low <= overhead.mean.point <= high else overhead.mean
    if mean is None and slow is None and slow_starts is None:
        return None
    return Qualification(mean=mean, slow=slow, slow_starts=slow_starts)


def qualified(claim: str, verdict: Verdict) -> str:
    """The claim, limited to the typical run where it may not hold for the mean."""
    limit = qualification(verdict)
    return f"{typically(verdict)}{claim}{_said(limit, verdict.word)}" if limit else claim


def typically(verdict: Verdict) -> str:
    """What precedes a claim of the typical run alone; empty for other claims."""
    return "typically " if qualification(verdict) else ""


def _bounds(verdict: Verdict) -> bool:
    return verdict.word in (Word.WITHIN, Word.BOUNDED)


def _allowed(verdict: Verdict) -> tuple[float, float]:
    """Lowest and highest mean overhead, as fractions, for which the claim needs no qualification."""
    typical, margin = verdict.overhead.typical, verdict.within or 0.0
    if verdict.word is Word.WITHIN:
        return -margin, margin
    if verdict.word is Word.BOUNDED:
        return -math.inf, verdict.at_most or 0.0
    if verdict.word is Word.UNDECIDED or typical.low is None or typical.high is None:
        return -math.inf, math.inf
    return min(typical.low / 2, 2 * typical.low), max(typical.high / 2, 2 * typical.high)


def _unbounded(overhead: Overhead, low: float, high: float) -> tuple[SlowRuns | None, SlowRuns | None]:
    """Slow runs and slow starts that may move the mean out of ``low`` to ``high``; ``None`` for each that may not.

    Where neither may alone but both together may, both are given.
    """
    slow = None if _slices_known(overhead, low, high) else overhead.slow
    both = slow, overhead.slow_starts
    if not _exceed([each for each in both if each], low, high):
        return None, None
    alone = tuple(each if each and _exceed([each], low, high) else None for each in both)
    return (alone[0], alone[1]) if any(alone) else both


def _exceed(counts: list[SlowRuns], low: float, high: float) -> bool:
    return sum(map(most_cost, counts)) > high or sum(map(most_gain, counts)) > -low


def _slices_known(overhead: Overhead, low: float, high: float) -> bool:
    """Whether the mean over the many slices of each start has its whole interval from ``low`` to ``high``."""
    mean = overhead.mean
    if overhead.slow_starts is None or mean.low is None or mean.high is None:
        return False
    return low < mean.low and mean.high < high


def _said(limit: Qualification, word: Word) -> str:
    counts = [(each, noun) for each, noun in ((limit.slow_starts, "start"), (limit.slow, "run")) if each]
    seen = [_slow_said(each, noun) for each, noun in counts if each.slow or each.native_slow]
    said = f", but {' and '.join(seen)}" if seen else ""
    if limit.mean is not None:
        said += f"; {_mean_said(limit.mean, word)} in the mean"
    return said or "".join(
        f"; none of {each.runs} {noun}s was {100 * SLOW:g} % slower" for each, noun in counts[:1]
    )


def _slow_said(slow: SlowRuns, noun: str) -> str:
    natively = _share_said(slow.native_slow, slow.native_runs)
    if not slow.slow:
        return f"natively {natively} {noun}s {_were(slow.native_slow, slow.native_by)}"
    beside = f" (natively {natively} by {100 * (slow.native_by or 0.0):.0f} %)" if slow.native_slow else ""
    return f"{_share_said(slow.slow, slow.runs)} {noun}s {_were(slow.slow, slow.by)}{beside}"


def _share_said(count: int, runs: int) -> str:
    return f"{count} of {runs}"


def _were(count: int, by: float | None) -> str:
    return f"{'were' if count > 1 else 'was'} slower by {100 * (by or 0.0):.0f} %"


def _mean_said(mean: Estimate, word: Word) -> str:
    """Its interval, such as "by 1.9-4.1 %"; "slower by" where the claim is of no or another direction."""
    low, high = (mean.point if end is None else end for end in (mean.low, mean.high))
    if low >= TIMES_FROM:
        return f"{1 + low:.0f}{DASH}{1 + high:.0f} times native's time"
    decimals = percent_decimals(high - low)
    if low <= 0 <= high:
        return f"{signed(percent_digits(low, decimals))} to {signed(percent_digits(high, decimals))} %"
    near, far = (percent_digits(end, decimals) for end in sorted((abs(low), abs(high))))
    own = Word.SLOWER if low > 0 else Word.FASTER
    return f"{'' if own is word else f'{own} '}by {near}{DASH}{far} %"
