# SPDX-License-Identifier: Apache-2.0
"""The environments of a cell against each other, within blocks: never by whether two intervals overlap."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from tare.analyze.diagnostics import holds_together
from tare.analyze.estimation import as_fraction
from tare.analyze.evidence import Reach, by_block, difference_p, equivalence_p, interval
from tare.analyze.letters import letters
from tare.analyze.multiplicity import ERROR, adjusted, holds
from tare.records import NATIVE, Estimate, Overhead, PairDifference, Ranked, Ranking, Verdict


@dataclass(frozen=True, slots=True)
class _Pair:
    first: str
    second: str
    estimate: Estimate
    difference_p: float
    equivalence_p: float


def rankings(verdicts: Sequence[Verdict]) -> tuple[Ranking, ...]:
    """Rank the environments of each cell on its primary metric; one ranking per cell with an environment.

    All pairs are compared, native included, by their log-ratios in the blocks that both have; Holm's procedure
    runs over the pairs of a ranking, for differences and for equivalences each by themselves.
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
    pairs = _judged([_pair(first, second, overheads, margin) for first, second in combinations(names, 2)])
    told = letters(names, ((pair.first, pair.second) for pair in pairs if pair.distinguished))
    places = tuple(
        Ranked(
            environment=name,
            overhead=overheads[name].typical if name in overheads else None,
            letters=told[name],
        )
        for name in names
    )
    return Ranking(cell=summary.cell, metric=summary.metric, places=places, pairs=pairs)


def _point(overhead: Overhead | None) -> float:
    return overhead.typical.point if overhead else 0.0


def _pair(first: str, second: str, overheads: Mapping[str, Overhead], margin: float) -> _Pair:
    ours, theirs = overheads.get(first), overheads.get(second)
    log_ratios = _differences(ours, theirs)
    if not log_ratios:
        return _Pair(
            first, second, Estimate(point=float("nan"), low=None, high=None, level=1 - ERROR, n=0), 1.0, 1.0
        )
    reach = Reach.common([each for each in (ours, theirs) if each], len(log_ratios))
    estimate = as_fraction(interval(log_ratios, reach, ERROR))
    if estimate.low is None or not holds_together(log_ratios):
        without = Estimate(point=estimate.point, low=None, high=None, level=estimate.level, n=estimate.n)
        return _Pair(first, second, without, 1.0, 1.0)
    equivalence = equivalence_p(log_ratios, margin, reach)
    return _Pair(first, second, estimate, difference_p(log_ratios, reach), equivalence)


def _differences(first: Overhead | None, second: Overhead | None) -> list[float]:
    """Ln of the second's time less that of the first, per block of both; of native each log-ratio is 0."""
    if first is None or second is None:
        known, sign = (second, 1.0) if first is None else (first, -1.0)
        return [sign * value for value in by_block(known).values()] if known else []
    theirs = by_block(second)
    return [theirs[block] - value for block, value in by_block(first).items() if block in theirs]


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
