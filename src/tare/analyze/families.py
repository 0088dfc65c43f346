# SPDX-License-Identifier: Apache-2.0
"""Verdicts within their family: what may be claimed when all claims must hold together."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tare.analyze.judgement import MOST_BLOCKS, MOST_BOUND, claim, margins, narrowest
from tare.analyze.looks import reach_of, seen
from tare.analyze.sentence import claim_in_family, claim_said
from tare.records import Estimate, Family, Standing, Verdict, Word
from tare.statistics.blocks import fewest_blocks
from tare.statistics.distributions import normal_quantile
from tare.statistics.estimate import as_fraction
from tare.statistics.evidence import Reach, bound_p, difference_p, equivalence_p, interval
from tare.statistics.multiplicity import ERROR, adjusted, benjamini_hochberg, holds, holm
from tare.statistics.student import standard_deviation


@dataclass(frozen=True, slots=True)
class _Claim:
    reach: Reach
    difference: float
    equivalence: Mapping[float, float]
    """Margin → p-value of "beyond it"."""
    bound: float
    """P-value of "costs ``MOST_BOUND`` or more"."""


def in_families(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Keep each word only if it holds together with all other claims of its family.

    The primary claims (each environment in each cell, on each metric declared before the start) are one family, by
    Holm's procedure; all other metrics are another, by Benjamini and Hochberg's. Differences and equivalences are
    adjusted separately. The order is kept.
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
    exploratory = family is Family.EXPLORATORY
    differences = adjusted([each.difference for each in claims], exploratory=exploratory)
    bounds = adjusted([each.bound for each in claims], exploratory=exploratory)
    equivalences = nested([each.equivalence for each in claims], exploratory=exploratory)
    claimed = [
        any(map(holds, (difference, bound, *equivalence.values())))
        for difference, bound, equivalence in zip(differences, bounds, equivalences, strict=True)
    ]
    error = ERROR * (sum(claimed) if exploratory else 1) / max(1, len(claims))
    result = []
    for number, (verdict, own) in enumerate(zip(verdicts, claims, strict=True)):
        standing = Standing(
            family=family,
            size=len(claims),
            difference_p=own.difference,
            adjusted_difference_p=differences[number],
            equivalence_p=own.equivalence[verdict.margin],
            adjusted_equivalence_p=equivalences[number][verdict.margin],
            together=_together(verdict, own.reach, error) if claimed[number] or not exploratory else None,
        )
        result.append(_standing_in(verdict, standing, equivalences[number]))
    return result


def _claim(verdict: Verdict) -> _Claim:
    """P-values of a verdict; an interval that does not hold, or is missing, is no evidence."""
    overhead = verdict.overhead
    reach, tested = reach_of(overhead), margins(verdict.margin)
    if overhead.typical.low is None:
        return _Claim(reach, 1.0, dict.fromkeys(tested, 1.0), 1.0)
    contrast = seen(overhead.summary, overhead.looks)
    return _Claim(
        reach,
        difference_p(contrast, reach),
        {margin: equivalence_p(contrast, margin, reach) for margin in tested},
        bound_p(contrast, MOST_BOUND, reach),
    )


def nested(claims: Sequence[Mapping[float, float]], *, exploratory: bool) -> list[dict[float, float]]:
    """Adjust each claim's p-values at all margins; all ``claims`` have the same margins.

    By Benjamini and Hochberg, margin by margin. By Holm, a claim passes its part of the error to the others only with
    its narrowest margin, so that no false word is said at any margin: closed testing (Marcus, Peritz and Gabriel,
    Biometrika 63 (1976) 655-660) of the combinations possible with nested margins.
    """
    if not claims:
        return []
    table = np.array([[claim[margin] for margin in claims[0]] for claim in claims])
    if exploratory:
        adjusted_p = benjamini_hochberg(table.T).T
    else:
        adjusted_p = np.empty_like(table)
        last = table[:, list(claims[0]).index(min(claims[0]))]
        for place in range(table.shape[1]):
            families = np.where(np.eye(len(claims), dtype=bool), table[:, place, None], last)
            adjusted_p[:, place] = np.diagonal(holm(families))
    return [dict(zip(claims[0], map(float, row), strict=True)) for row in adjusted_p]


def _together(verdict: Verdict, reach: Reach, error: float) -> Estimate:
    overhead = verdict.overhead
    together = as_fraction(interval(seen(overhead.summary, overhead.looks), reach, error))
    return replace(together, low=None, high=None) if overhead.typical.low is None else together


def _standing_in(verdict: Verdict, standing: Standing, equivalences: Mapping[float, float]) -> Verdict:
    """A single claim stays as it was judged; otherwise its adjusted p-values decide the word."""
    judged = replace(verdict, alone=verdict.word, standing=standing)
    if standing.size > 1 and verdict.word is not Word.UNDECIDED:
        judged = _among_all(judged, standing, equivalences)
    return replace(judged, claim=claim_in_family(judged, verdict.claim))


def _among_all(verdict: Verdict, standing: Standing, equivalences: Mapping[float, float]) -> Verdict:
    bound = standing.together.high if standing.together else None
    own = claim(
        replace(verdict.overhead.typical, high=math.inf if bound is None else bound),
        verdict.margin,
        narrowest(verdict.margin, lambda margin: holds(equivalences[margin])),
        differs=holds(standing.adjusted_difference_p),
    )
    judged = replace(verdict, word=own.word, within=own.within, at_most=own.at_most)
    if own.word is Word.UNDECIDED:
        wanted = _blocks_wanted(verdict, standing.size)
        return replace(judged, more_blocks=wanted, below_noise_floor=False)
    return replace(judged, claim=claim_said(judged))


def _blocks_wanted(verdict: Verdict, size: int) -> int | None:
    """Approximate number of further blocks to decide among ``size`` claims, as ``judgement.blocks_wanted`` for one."""
    overhead = verdict.overhead
    n, point = overhead.typical.n, abs(overhead.typical.point)
    deviation = standard_deviation(overhead.summary.log_ratios)
    distance = max(point, margins(verdict.margin)[0] - point)
    if deviation is None or distance <= 0:
        return None
    quantile = -normal_quantile(ERROR / size / 2)
    needed = (quantile * deviation / math.log1p(distance)) ** 2 + 2
    if needed - n > MOST_BLOCKS:
        return None
    return max(math.ceil(needed), fewest_blocks(ERROR / size), n + 1) - n
