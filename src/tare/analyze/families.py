# SPDX-License-Identifier: Apache-2.0
"""Verdicts within their family: each word is read from an interval that holds together with all others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tare.analyze.judgement import MOST_BOUND, blocks_wanted, claim, margins
from tare.analyze.looks import reach_of, seen
from tare.analyze.sentence import claim_said
from tare.records import Estimate, Family, Standing, Verdict, Word
from tare.statistics.estimate import as_fraction
from tare.statistics.evidence import bound_p, difference_p, equivalence_p, interval
from tare.statistics.multiplicity import among, joint_error


@dataclass(frozen=True, slots=True)
class _Claim:
    """p-values of a verdict by itself; 1 where its interval does not hold or is missing."""

    difference: float = 1.0
    equivalence: float = 1.0
    """Of "beyond the declared margin"."""
    any_word: float = 1.0
    """The least chance of error at which the interval permits any word."""


def in_families(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Read each word anew from the interval that holds together with those of all other claims of its family.

    The primary claims (each environment in each cell, on each metric declared before the start) are one family: all
    their intervals hold jointly. All other metrics are another: of the claims made, one in twenty is wrong on average.
    The order is kept.
    """
    by_place: dict[int, Verdict] = {}
    for family in Family:
        own = [place for place, verdict in enumerate(verdicts) if _family(verdict) is family]
        judged = _judge([verdicts[place] for place in own], family)
        by_place.update(zip(own, judged, strict=True))
    return tuple(by_place[place] for place in range(len(verdicts)))


def _family(verdict: Verdict) -> Family:
    return Family.PRIMARY if verdict.overhead.summary.primary else Family.EXPLORATORY


def _judge(verdicts: Sequence[Verdict], family: Family) -> list[Verdict]:
    claims = [_claim(verdict) for verdict in verdicts]
    error = joint_error([own.any_word for own in claims], exploratory=family is Family.EXPLORATORY)
    return [
        _standing_in(
            verdict,
            Standing(
                family=family,
                size=len(claims),
                difference_p=own.difference,
                adjusted_difference_p=among(own.difference, error),
                equivalence_p=own.equivalence,
                adjusted_equivalence_p=among(2 * own.equivalence, error),
                together=_together(verdict, error),
            ),
            error,
        )
        for verdict, own in zip(verdicts, claims, strict=True)
    ]


def _claim(verdict: Verdict) -> _Claim:
    overhead = verdict.overhead
    if overhead.typical.low is None:
        return _Claim()
    reach, contrast = reach_of(overhead), seen(overhead.summary, overhead.looks)
    difference, bound = difference_p(contrast, reach), bound_p(contrast, MOST_BOUND, reach)
    equivalence = equivalence_p(contrast, verdict.margin, reach)
    widest = margins(verdict.margin)[0]
    wider = equivalence if widest == verdict.margin else equivalence_p(contrast, widest, reach)
    return _Claim(difference, equivalence, min(difference, bound, 2 * wider))


def _together(verdict: Verdict, error: float) -> Estimate:
    overhead = verdict.overhead
    together = as_fraction(interval(seen(overhead.summary, overhead.looks), reach_of(overhead), error))
    return replace(together, low=None, high=None) if overhead.typical.low is None else together


def _standing_in(verdict: Verdict, standing: Standing, error: float) -> Verdict:
    """A verdict without an interval keeps its sentence, which says why."""
    judged = replace(verdict, alone=verdict.word, standing=standing)
    if verdict.overhead.typical.low is None:
        return judged
    own = claim(standing.together, verdict.margin)
    decided = own.word is not Word.UNDECIDED
    judged = replace(
        judged,
        word=own.word,
        within=own.within,
        at_most=own.at_most,
        more_blocks=None if decided else blocks_wanted(verdict.overhead, verdict.margin, error),
    )
    return replace(judged, claim=claim_said(judged))
