# SPDX-License-Identifier: Apache-2.0
"""The environments of a cell against each other, within blocks: never by overlapping intervals."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from tare.analyze import load_effect
from tare.analyze.busy import drowns
from tare.analyze.contrasts import between_two
from tare.analyze.looks import by_block, common_reach, seen
from tare.records import NATIVE, Estimate, Overhead, PairDifference, Ranked, Ranking, Verdict
from tare.statistics.blocks import fewest_blocks
from tare.statistics.contrasts import Contrast, mirrored, widened
from tare.statistics.estimate import as_fraction, leaves_out_0, lies_within
from tare.statistics.evidence import difference_p, equivalence_p, interval
from tare.statistics.letters import letters
from tare.statistics.multiplicity import ERROR
from tare.statistics.signed_rank import fewest_values


def rankings(verdicts: Sequence[Verdict]) -> tuple[Ranking, ...]:
    """Rank the environments of each cell on its primary metric; one ranking per cell with an environment.

    All pairs, including native, are compared by their log-ratios in their common blocks; the intervals of a ranking's
    pairs hold jointly, and say which two are distinguished and which are equal.
    """
    cells = dict.fromkeys(
        (verdict.overhead.summary.cell, verdict.overhead.summary.metric)
        for verdict in verdicts
        if verdict.overhead.summary.primary
    )
    return tuple(
        _ranking(
            [
                verdict
                for verdict in verdicts
                if (verdict.overhead.summary.cell, verdict.overhead.summary.metric) == key
            ]
        )
        for key in cells
    )


def _ranking(verdicts: Sequence[Verdict]) -> Ranking:
    overheads = {verdict.overhead.summary.environment: verdict.overhead for verdict in verdicts}
    summary, margin = verdicts[0].overhead.summary, verdicts[0].margin
    names = sorted((NATIVE, *overheads), key=lambda name: _point(overheads.get(name)))
    floor = verdicts[0].overhead.noise_floor
    by_name = {verdict.overhead.summary.environment: verdict for verdict in verdicts}
    named = list(combinations(names, 2))
    pairs = tuple(
        _permitted(
            _pair(*both, overheads, margin, len(named)),
            [by_name[name] for name in both if name in by_name],
            floor,
            len(named),
        )
        for both in named
    )
    ranking = letters(names, ((pair.first, pair.second) for pair in pairs if pair.distinguished))
    places = tuple(
        Ranked(
            environment=name,
            overhead=overheads[name].typical if name in overheads else None,
            letters=ranking[name],
        )
        for name in names
    )
    return Ranking(
        cell=summary.cell,
        metric=summary.metric,
        places=places,
        pairs=pairs,
        fewest_blocks=_fewest_blocks(len(pairs)),
    )


def _fewest_blocks(pairs: int) -> int:
    """Fewest common blocks with which each of ``pairs`` pairs has an interval at its part of the error."""
    error = ERROR / pairs
    return max(fewest_blocks(error), fewest_values(1 - error))


def _permitted(
    pair: PairDifference, verdicts: Sequence[Verdict], floor: Estimate, pairs: int
) -> PairDifference:
    """The pair with what may be claimed of it, by the ``verdicts`` of those of its two that are not native."""
    first, *second = verdicts
    if first.released and not second:
        return _released(pair, first, pairs)
    if any(verdict.set_aside for verdict in verdicts):
        return _unclaimed(pair)
    return _above(pair, floor)


def _released(pair: PairDifference, verdict: Verdict, pairs: int) -> PairDifference:
    """Native and an environment that differ even if the load did its most."""
    overhead = verdict.overhead
    left = replace(overhead, summary=load_effect.moved(overhead.summary, verdict.word))
    at_worst = _pair(pair.first, pair.second, {overhead.summary.environment: left}, verdict.margin, pairs)
    hull = load_effect.hull(pair.difference, at_worst.difference)
    return replace(
        pair,
        difference=hull,
        adjusted_p=at_worst.adjusted_p,
        adjusted_equivalence_p=1.0,
        distinguished=leaves_out_0(hull),
        equal=False,
    )


def _unclaimed(pair: PairDifference) -> PairDifference:
    """The pair without a claim: an environment without claims gets none beside another either."""
    return replace(pair, adjusted_p=1.0, adjusted_equivalence_p=1.0, distinguished=False, equal=False)


def _above(pair: PairDifference, floor: Estimate) -> PairDifference:
    """The pair, distinguished only if it differs by more than native against itself."""
    drowned = pair.distinguished and drowns(pair.difference, floor)
    return replace(pair, adjusted_p=1.0, distinguished=False) if drowned else pair


def _point(overhead: Overhead | None) -> float:
    return overhead.typical.point if overhead else 0.0


def _pair(
    first: str, second: str, overheads: Mapping[str, Overhead], margin: float, pairs: int
) -> PairDifference:
    """One of ``pairs`` pairs, whose intervals hold jointly; without common blocks nothing is known of it."""
    ours, theirs = overheads.get(first), overheads.get(second)
    contrast = _contrast(ours, theirs)
    n, error = len(contrast.log_ratios), ERROR / pairs
    difference = Estimate(point=math.nan, low=None, high=None, level=1 - error, n=0)
    p = equivalence = 1.0
    if n:
        reach = common_reach([each for each in (ours, theirs) if each], n)
        difference = as_fraction(interval(contrast, reach, error))
        p, equivalence = difference_p(contrast, reach), 2 * equivalence_p(contrast, margin, reach)
    return PairDifference(
        first=first,
        second=second,
        difference=difference,
        adjusted_p=min(1.0, pairs * p),
        adjusted_equivalence_p=min(1.0, pairs * equivalence),
        distinguished=leaves_out_0(difference),
        equal=lies_within(difference, margin),
    )


def _contrast(first: Overhead | None, second: Overhead | None) -> Contrast:
    """The second's time against the first's, per common block; native, ``None``, has two runs in each block."""
    if first is None and second is not None:
        return seen(second.summary, second.looks)
    if second is None and first is not None:
        return mirrored(seen(first.summary, first.looks))
    if first is None or second is None:
        return between_two(())
    theirs = by_block(second)
    pairs = ((theirs.get(block), value) for block, value in by_block(first).items())
    return widened(between_two([late - early for late, early in pairs if late is not None]))
