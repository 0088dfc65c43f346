# SPDX-License-Identifier: Apache-2.0
"""Each verdict among all those of its family: what may be claimed when all must hold together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scipy.special import ndtri

from tare.analyze.estimation import as_fraction
from tare.analyze.evidence import Reach, difference_p, equivalence_p, interval
from tare.analyze.family_words import family_sentence
from tare.analyze.judgement import MOST_BLOCKS
from tare.analyze.looks import seen
from tare.analyze.multiplicity import ERROR, adjusted, holds
from tare.analyze.student import standard_deviation
from tare.blocks import fewest_blocks
from tare.records import Estimate, Family, Overhead, Standing, Verdict, Word


@dataclass(frozen=True, slots=True)
class _Claim:
    reach: Reach
    difference: float
    equivalence: float


def in_families(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Let each word stand only if it holds together with those of all other claims of the same family.

    The primary claims (each environment in each cell, on the metric declared before the start) are one family,
    by Holm's procedure; all other metrics another, by that of Benjamini and Hochberg. Differences and
    equivalences are adjusted each by themselves. The order is kept.
    """
    found: dict[int, Verdict] = {}
    for family in Family:
        own = [place for place, verdict in enumerate(verdicts) if _family(verdict) is family]
        judged = _judge([verdicts[place] for place in own], family)
        found.update(zip(own, judged, strict=True))
    return tuple(found[place] for place in range(len(verdicts)))


def _family(verdict: Verdict) -> Family:
    return Family.PRIMARY if verdict.overhead.summary.primary else Family.EXPLORATORY


def _judge(verdicts: Sequence[Verdict], family: Family) -> list[Verdict]:
    claims = [_claim(verdict) for verdict in verdicts]
    exploratory = family is Family.EXPLORATORY
    differences = adjusted([claim.difference for claim in claims], exploratory=exploratory)
    equivalences = adjusted([claim.equivalence for claim in claims], exploratory=exploratory)
    claimed = [holds(min(pair)) for pair in zip(differences, equivalences, strict=True)]
    error = ERROR * (sum(claimed) if exploratory else 1) / max(1, len(claims))
    result = []
    for number, (verdict, claim) in enumerate(zip(verdicts, claims, strict=True)):
        told = not exploratory or claimed[number]
        standing = Standing(
            family=family,
            size=len(claims),
            difference_p=claim.difference,
            adjusted_difference_p=differences[number],
            equivalence_p=claim.equivalence,
            adjusted_equivalence_p=equivalences[number],
            together=_together(verdict.overhead, claim.reach, error) if told else None,
        )
        result.append(_standing_in(verdict, standing))
    return result


def _claim(verdict: Verdict) -> _Claim:
    """An interval that does not hold, or that is not there, is no evidence."""
    overhead = verdict.overhead
    reach = Reach.of(overhead)
    if overhead.typical.low is None:
        return _Claim(reach, 1.0, 1.0)
    contrast = seen(overhead.summary, overhead.looks)
    return _Claim(reach, difference_p(contrast, reach), equivalence_p(contrast, verdict.margin, reach))


def _together(overhead: Overhead, reach: Reach, error: float) -> Estimate:
    found = as_fraction(interval(seen(overhead.summary, overhead.looks), reach, error))
    return replace(found, low=None, high=None) if overhead.typical.low is None else found


def _standing_in(verdict: Verdict, standing: Standing) -> Verdict:
    """One claim alone stays as it was judged; else the word is what its adjusted p-values allow."""
    word = verdict.word if standing.size == 1 else _word(verdict, standing)
    found = replace(verdict, alone=verdict.word, standing=standing, word=word)
    if word is Word.UNDECIDED and verdict.word is not Word.UNDECIDED:
        found = replace(found, more_blocks=_blocks_wanted(verdict, standing.size), below_noise_floor=False)
    return replace(found, sentence=family_sentence(found))


def _word(verdict: Verdict, standing: Standing) -> Word:
    if verdict.word is Word.UNDECIDED:
        return Word.UNDECIDED
    if verdict.word is Word.WITHIN and holds(standing.adjusted_equivalence_p):
        return Word.WITHIN
    if holds(standing.adjusted_difference_p):
        return Word.SLOWER if verdict.overhead.typical.point > 0 else Word.FASTER
    return Word.UNDECIDED


def _blocks_wanted(verdict: Verdict, size: int) -> int | None:
    """About how many further blocks would decide among ``size`` claims, as ``judgement.blocks_wanted`` for one."""
    overhead = verdict.overhead
    n, point = overhead.typical.n, abs(overhead.typical.point)
    deviation = standard_deviation(overhead.summary.log_ratios)
    distance = max(point, verdict.margin - point)
    if deviation is None or distance <= 0:
        return None
    quantile = -float(ndtri(ERROR / size / 2))
    needed = (quantile * deviation / math.log1p(distance)) ** 2 + 2
    if needed - n > MOST_BLOCKS:
        return None
    return max(math.ceil(needed), fewest_blocks(ERROR / size), n + 1) - n
