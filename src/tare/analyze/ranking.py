# SPDX-License-Identifier: Apache-2.0
"""The environments of a cell against each other, within blocks: never by overlapping intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from tare.analyze import load_effect
from tare.analyze.busy import drowns
from tare.analyze.contrasts import between_two
from tare.analyze.looks import by_block, common_reach, seen
from tare.records import NATIVE, Estimate, Overhead, PairDifference, Ranked, Ranking, Verdict
from tare.statistics.blocks import fewest_blocks
from tare.statistics.contrasts import Contrast, mirrored, widened
from tare.statistics.estimate import as_fraction
from tare.statistics.evidence import difference_p, equivalence_p, interval
from tare.statistics.letters import letters
from tare.statistics.multiplicity import ERROR, adjusted, holds
from tare.statistics.signed_rank import fewest_values


@dataclass(frozen=True, slots=True)
class _Pair:
    first: str
    second: str
    estimate: Estimate
    difference_p: float
    equivalence_p: float


def rankings(verdicts: Sequence[Verdict]) -> tuple[Ranking, ...]:
    """Rank the environments of each cell on its primary metric; one ranking per cell with an environment.

    All pairs, including native, are compared by their log-ratios in their common blocks; Holm's procedure runs over the
    pairs of a ranking, separately for differences and equivalences.
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
    pairs = _judged(
        [
            _permitted(pair, [by_name[name] for name in (pair.first, pair.second) if name in by_name], floor)
            for pair in (_pair(*names_of, overheads, margin) for names_of in combinations(names, 2))
        ]
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


def _permitted(pair: _Pair, verdicts: Sequence[Verdict], floor: Estimate) -> _Pair:
    """The pair with what may be claimed of it, by the ``verdicts`` of those of its two that are not native."""
    first, *second = verdicts
    if first.released and not second:
        return _released(pair, first)
    if any(verdict.set_aside for verdict in verdicts):
        return _unclaimed(pair)
    return _above(pair, floor)


def _released(pair: _Pair, verdict: Verdict) -> _Pair:
    """Native and an environment that differ even if the load did its most."""
    overhead = verdict.overhead
    left = replace(overhead, summary=load_effect.moved(overhead.summary, verdict.word))
    at_worst = _pair(pair.first, pair.second, {overhead.summary.environment: left}, verdict.margin)
    return replace(
        pair,
        estimate=load_effect.hull(pair.estimate, at_worst.estimate),
        difference_p=at_worst.difference_p,
        equivalence_p=1.0,
    )


def _unclaimed(pair: _Pair) -> _Pair:
    """The pair without a claim: an environment without claims gets none beside another either."""
    return replace(pair, difference_p=1.0, equivalence_p=1.0)


def _above(pair: _Pair, floor: Estimate) -> _Pair:
    """The pair, distinguished only if it differs by more than native against itself."""
    return replace(pair, difference_p=1.0) if drowns(pair.estimate, floor) else pair


def _point(overhead: Overhead | None) -> float:
    return overhead.typical.point if overhead else 0.0


def _pair(first: str, second: str, overheads: Mapping[str, Overhead], margin: float) -> _Pair:
    ours, theirs = overheads.get(first), overheads.get(second)
    contrast = _contrast(ours, theirs)
    n = len(contrast.log_ratios)
    if not n:
        return _Pair(
            first, second, Estimate(point=float("nan"), low=None, high=None, level=1 - ERROR, n=0), 1.0, 1.0
        )
    reach = common_reach([each for each in (ours, theirs) if each], n)
    estimate = as_fraction(interval(contrast, reach, ERROR))
    if estimate.low is None:
        without = Estimate(point=estimate.point, low=None, high=None, level=estimate.level, n=estimate.n)
        return _Pair(first, second, without, 1.0, 1.0)
    equivalence = equivalence_p(contrast, margin, reach)
    return _Pair(first, second, estimate, difference_p(contrast, reach), equivalence)


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


def _judged(pairs: Sequence[_Pair]) -> tuple[PairDifference, ...]:
    differences = adjusted([pair.difference_p for pair in pairs], exploratory=False)
    equivalences = adjusted([pair.equivalence_p for pair in pairs], exploratory=False)
    return tuple(
        PairDifference(
            first=pair.first,
            second=pair.second,
            difference=pair.estimate,
            adjusted_p=difference,
            adjusted_equivalence_p=equivalence,
            distinguished=holds(difference),
            equal=holds(equivalence),
        )
        for pair, difference, equivalence in zip(pairs, differences, equivalences, strict=True)
    )
