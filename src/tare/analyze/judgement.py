# SPDX-License-Identifier: Apache-2.0
"""What may be said about an overhead, and what may not yet be said."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tare.analyze.estimation import overhead
from tare.analyze.looks import EQUIVALENCE_ERROR, Arm, reach_after, seen
from tare.analyze.sentence import claim_said
from tare.records import Course, Estimate, Look, Overhead, Summary, Verdict, Word
from tare.statistics.blocks import fewest_blocks
from tare.statistics.boundary import ERROR
from tare.statistics.contrasts import Contrast
from tare.statistics.evidence import equivalence_p
from tare.statistics.multiplicity import holds
from tare.statistics.student import standard_deviation

NESTED_MARGINS = (0.01, 0.02, 0.05, 0.10)
"""Tested besides the campaign's own margin."""
MOST_BOUND = 0.10
"""A larger bound is not worth stating: nobody would act on it."""
EQUIVALENCE_LEVEL = 1 - EQUIVALENCE_ERROR
MOST_BLOCKS = 10_000
"""More further blocks than this are no honest advice."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A permitted claim: the three fields of ``Verdict`` with these names."""

    word: Word
    within: float | None = None
    at_most: float | None = None


def margins(declared: float) -> tuple[float, ...]:
    """All margins that are tested, the widest first."""
    return tuple(sorted({*NESTED_MARGINS, declared}, reverse=True))


def narrowest(declared: float, holds: Callable[[float], bool]) -> float | None:
    """Go from the widest margin to the narrowest while ``holds`` is true; give the last that held, or ``None``.

    Each is tested only if the wider one held, so their number needs no correction: a fixed sequence of tests
    (Maurer, Hothorn and Lehmacher, in: Biometrie in der chemisch-pharmazeutischen Industrie 6 (1995) 3-18).
    """
    last = None
    for margin in margins(declared):
        if not holds(margin):
            break
        last = margin
    return last


def claim(typical: Estimate, declared: float, within: float | None, *, differs: bool) -> Claim:
    """Choose the word. ``within``: the narrowest margin that holds; ``differs``: no difference was ruled out."""
    if typical.low is None or typical.high is None:
        return Claim(Word.UNDECIDED)
    if within is not None and within <= declared:
        return Claim(Word.WITHIN, within)
    if differs:
        return Claim(Word.SLOWER if typical.point > 0 else Word.FASTER, within)
    if within is not None:
        return Claim(Word.WITHIN, within)
    if 0 <= typical.high < MOST_BOUND:
        return Claim(Word.BOUNDED, at_most=typical.high)
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
    """Judge one overhead; ``margin``, declared beforehand, is the fraction that counts as no difference."""
    contrast = seen(judged.summary, judged.looks)
    within = narrowest(margin, lambda each: is_equivalent(contrast, each, judged.looks))
    own = claim(judged.typical, margin, within, differs=leaves_out_0(judged.typical))
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


def leaves_out_0(typical: Estimate) -> bool:
    """Whether the interval shows a difference."""
    return typical.low is not None and typical.high is not None and (typical.low > 0 or typical.high < 0)


def word_of(typical: Estimate, contrast: Contrast, margin: float, looks: Sequence[Look] = ()) -> Word:
    """Give the word, by the declared margin alone, for an overhead (as a fraction) estimated from ``contrast``."""
    within = margin if is_equivalent(contrast, margin, looks) else None
    own = claim(typical, margin, within, differs=leaves_out_0(typical)).word
    return Word.UNDECIDED if own is Word.BOUNDED else own


def is_equivalent(contrast: Contrast, margin: float, looks: Sequence[Look] = ()) -> bool:
    """Do two one-sided tests: the 90 % interval must lie wholly inside ±``margin``.

    With ``looks`` it is the repeated 90 % interval: each of the two tests then errs at any look with at most 5 %.
    Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987) 657-680.
    """
    return holds(equivalence_p(contrast, margin, reach_after(looks, len(contrast.log_ratios))))


def blocks_wanted(judged: Overhead, margin: float) -> int | None:
    """Approximate number of further blocks to decide: (1.96 s / h)^2 + 2 blocks, minus the present ones.

    s is the standard deviation of the log-ratios; h is the distance to the nearer decision: to distinguish the estimate
    from 0 or to place it inside the margin. ``None`` when a single block gives no s, or for more than ``MOST_BLOCKS``.
    """
    n = judged.typical.n
    deviation = standard_deviation(judged.summary.log_ratios)
    distance = max(abs(judged.typical.point), margins(margin)[0] - abs(judged.typical.point))
    if deviation is None or distance <= 0:
        return None
    needed = (1.96 * deviation / math.log1p(distance)) ** 2 + 2
    if needed - n > MOST_BLOCKS:
        return None
    return max(math.ceil(needed), fewest_blocks(ERROR), n + 1) - n


def _is_below_noise_floor(typical: Estimate, noise_floor: Estimate) -> bool:
    if typical.low is None or typical.high is None or noise_floor.low is None or noise_floor.high is None:
        return False
    extent = max(abs(noise_floor.low), abs(noise_floor.high))
    return max(abs(typical.low), abs(typical.high)) <= extent
