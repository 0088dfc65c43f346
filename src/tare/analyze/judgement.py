# SPDX-License-Identifier: Apache-2.0
"""What may be said about an overhead, and what may not yet be said: every word is read from one interval."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tare.analyze.estimation import overhead
from tare.analyze.looks import Arm
from tare.analyze.sentence import claim_said
from tare.records import Course, Estimate, Overhead, Summary, Verdict, Word
from tare.statistics.blocks import fewest_blocks, quantile
from tare.statistics.boundary import ERROR
from tare.statistics.estimate import leaves_out_0, lies_within
from tare.statistics.student import standard_deviation

NESTED_MARGINS = (0.01, 0.02, 0.05, 0.10)
"""Named besides the campaign's own margin."""
MOST_BOUND = 0.10
"""A larger bound is not worth stating: nobody would act on it."""
MOST_BLOCKS = 10_000
"""More further blocks than this are no honest advice."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A permitted claim: the three fields of ``Verdict`` with these names."""

    word: Word
    within: float | None = None
    at_most: float | None = None


def margins(declared: float) -> tuple[float, ...]:
    """All margins that a claim may name, the widest first."""
    return tuple(sorted({*NESTED_MARGINS, declared}, reverse=True))


def claim(shown: Estimate, declared: float) -> Claim:
    """Read the strongest word from the interval that is printed beside it.

    It is wrong only if the interval misses. The margin that was declared beforehand comes first.
    """
    if shown.low is None or shown.high is None:
        return Claim(Word.UNDECIDED)
    within = min((margin for margin in margins(declared) if lies_within(shown, margin)), default=None)
    if within is not None and within <= declared:
        return Claim(Word.WITHIN, within)
    if leaves_out_0(shown):
        return Claim(Word.SLOWER if shown.low > 0 else Word.FASTER, within)
    if within is not None:
        return Claim(Word.WITHIN, within)
    if shown.high < MOST_BOUND:
        return Claim(Word.BOUNDED, at_most=shown.high)
    return Claim(Word.UNDECIDED)


def verdicts(
    summaries: Sequence[Summary], margin: float, courses: Mapping[Arm, Course] | None = None
) -> tuple[Verdict, ...]:
    """One verdict per summary with a block; other summaries have nothing to judge.

    ``courses`` are the looks of each arm; without them the number of blocks was fixed.
    """
    known = courses or {}
    return tuple(
        verdict(overhead(summary, known.get((summary.cell, summary.environment))), margin)
        for summary in summaries
        if summary.blocks
    )


def verdict(judged: Overhead, margin: float) -> Verdict:
    """Judge one overhead alone; ``margin``, declared beforehand, is the fraction that counts as no difference."""
    own = claim(judged.typical, margin)
    unsaid = Verdict(
        overhead=judged,
        word=own.word,
        within=own.within,
        at_most=own.at_most,
        margin=margin,
        claim="",
        more_blocks=blocks_wanted(judged, margin) if own.word is Word.UNDECIDED else None,
        below_noise_floor=_is_below_noise_floor(judged.typical, judged.noise_floor),
    )
    return replace(unsaid, claim=claim_said(unsaid))


def word_of(shown: Estimate, margin: float) -> Word:
    """The word by the declared margin alone: the wider ones and a bound are left out."""
    if lies_within(shown, margin):
        return Word.WITHIN
    if leaves_out_0(shown):
        return Word.SLOWER if shown.point > 0 else Word.FASTER
    return Word.UNDECIDED


def blocks_wanted(judged: Overhead, margin: float, error: float = ERROR) -> int | None:
    """Approximate number of further blocks to decide: (z s / h)^2 + 2 blocks, minus the present ones.

    s is the standard deviation of the log-ratios, z the normal quantile for an interval that misses with a chance of
    ``error``; h is the distance to the nearer decision: to distinguish the estimate from 0 or to place it inside the
    margin. ``None`` when a single block gives no s, or for more than ``MOST_BLOCKS``.
    """
    n, point = judged.typical.n, abs(judged.typical.point)
    deviation = standard_deviation(judged.summary.log_ratios)
    distance = max(point, margins(margin)[0] - point)
    if deviation is None or distance <= 0:
        return None
    needed = (quantile(error) * deviation / math.log1p(distance)) ** 2 + 2
    if needed - n > MOST_BLOCKS:
        return None
    return max(math.ceil(needed), fewest_blocks(error), n + 1) - n


def _is_below_noise_floor(typical: Estimate, noise_floor: Estimate) -> bool:
    if typical.low is None or typical.high is None or noise_floor.low is None or noise_floor.high is None:
        return False
    extent = max(abs(noise_floor.low), abs(noise_floor.high))
    return max(abs(typical.low), abs(typical.high)) <= extent
