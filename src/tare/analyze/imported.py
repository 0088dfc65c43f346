# SPDX-License-Identifier: Apache-2.0
"""Measurements of other tools: each arm against the first, by the intervals that native's own time has there."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tare.analyze.apart import Apart, change_word, own_value, side_of_values
from tare.records import (
    USUAL_MARGIN,
    ChangeWord,
    Direction,
    Estimate,
    FactDifference,
    ImportedComparison,
    ImportedDifference,
    ImportedFigure,
    ImportedMeasurements,
    ImportedSeries,
    Incomparable,
)
from tare.statistics.multiplicity import ERROR, among, joint_error
from tare.statistics.unpaired import Side
from tare.treat.aggregate import log_time_per_work

_Figure = tuple[str, str]
"""Subject and metric."""


@dataclass(frozen=True, slots=True)
class _Compared:
    difference: ImportedDifference
    """As if it were the only claim."""
    sides: Apart


def compare_imported(read: ImportedMeasurements) -> ImportedComparison:
    """Compare every arm with the first: never paired, and all claims in one family.

    Nobody declared before the start which metric matters, so all claims are one exploratory family, by Benjamini and
    Hochberg's procedure.
    """
    arms = tuple(dict.fromkeys(series.arm for series in read.series))
    own = {arm: _by_figure(read.series, arm) for arm in arms}
    compared: list[_Compared] = []
    incomparable: list[Incomparable] = []
    for arm in arms[1:]:
        incomparable += _lacking(arms[0], arm, own[arms[0]], own[arm])
        for figure, reference in own[arms[0]].items():
            if figure in own[arm] and _alike(reference, own[arm][figure]):
                compared.append(_compared(reference, own[arm][figure]))
    return ImportedComparison(
        sources=read.sources,
        arms=arms,
        figures=tuple(_figure(series) for series in read.series),
        differences=tuple(_in_family(compared)),
        unlike=tuple(_unlike(read)),
        incomparable=tuple(incomparable),
        left_out=read.left_out,
    )


def _by_figure(series: Sequence[ImportedSeries], arm: str) -> dict[_Figure, ImportedSeries]:
    return {(each.subject, each.metric): each for each in series if each.arm == arm}


def _moved(series: ImportedSeries) -> float:
    """How far rounding may have moved all values of a series together, as a logarithm."""
    return math.log1p(series.rounding)


def _side(series: ImportedSeries, moved: float) -> Side:
    """Of the time per work; each end lies farther out by ``moved``."""
    side = side_of_values([log_time_per_work(value, series.direction) for value in series.values])

    def widened(error: float) -> Estimate:
        estimate = side(error)
        if estimate.low is None or estimate.high is None:
            return estimate
        return replace(estimate, low=estimate.low - moved, high=estimate.high + moved)

    return widened if moved else side


def _figure(series: ImportedSeries) -> ImportedFigure:
    return ImportedFigure(
        series=series, value=own_value(_side(series, _moved(series))(ERROR), series.direction)
    )


def _compared(reference: ImportedSeries, series: ImportedSeries) -> _Compared:
    # Rounding does not scatter, so that what it does to both adds up; squares of distances would add up to less.
    moved = _moved(reference) + _moved(series)
    sides = Apart(_side(reference, moved), _side(series, moved), USUAL_MARGIN)
    change = sides.change(ERROR)
    difference = ImportedDifference(
        reference=reference.arm,
        arm=series.arm,
        subject=series.subject,
        metric=series.metric,
        unit=series.unit,
        direction=series.direction,
        before=_figure(reference).value,
        after=_figure(series).value,
        change=change,
        word=ChangeWord.UNDECIDED,
        alone=change_word(change, USUAL_MARGIN),
        p_value=1.0,
        claims=1,
        margin=USUAL_MARGIN,
    )
    return _Compared(difference, sides)


def _in_family(compared: Sequence[_Compared]) -> Iterator[ImportedDifference]:
    """The differences with intervals and words that hold together.

    What has too few values for an interval is no claim.
    """
    claimed = [each for each in compared if each.difference.change.low is not None]
    error = joint_error([each.sides.any_word_p() for each in claimed], exploratory=True)
    for each in compared:
        change = each.sides.change(error)
        yield replace(
            each.difference,
            change=change,
            word=change_word(change, USUAL_MARGIN),
            p_value=among(each.sides.difference_p(), error),
            claims=len(claimed),
        )


def _alike(reference: ImportedSeries, series: ImportedSeries) -> bool:
    return (reference.unit, reference.direction) == (series.unit, series.direction)


def _lacking(
    reference: str,
    arm: str,
    first: Mapping[_Figure, ImportedSeries],
    later: Mapping[_Figure, ImportedSeries],
) -> Iterator[Incomparable]:
    """What only one of both arms has, or what they have in different units."""
    for figure in dict.fromkeys((*first, *later)):
        if figure not in first or figure not in later:
            reason = f"only in {reference if figure in first else arm}"
        elif not _alike(first[figure], later[figure]):
            reason = f"the units differ: {_said(first[figure])} and {_said(later[figure])}"
        else:
            continue
        yield Incomparable(
            first=reference, later=arm, what=" of ".join(filter(None, reversed(figure))), reason=reason
        )


def _said(series: ImportedSeries) -> str:
    better = "less" if series.direction is Direction.LESS else "more"
    return f"{series.unit or 'none'}, {better} is better"


def _unlike(read: ImportedMeasurements) -> Iterator[FactDifference]:
    if read.subjects:
        yield FactDifference(label="what ran", values=read.subjects)
    yield from _differing("tool", [source.kind for source in read.sources])
    for label in dict.fromkeys(label for source in read.sources for label in source.facts):
        yield from _differing(label, [source.facts.get(label) for source in read.sources])


def _differing(label: str, values: Sequence[str | None]) -> Iterator[FactDifference]:
    if len(set(values)) > 1:
        yield FactDifference(label=label, values=tuple(values))
