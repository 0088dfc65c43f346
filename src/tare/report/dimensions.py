# SPDX-License-Identifier: Apache-2.0
"""Curves of any number of dimensions as pictures hold them: over one that varies, or over two.

What stays the same is in the metric's name; where more than two vary, the two with the most places span the pictures,
and every combination of the others has its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from tare.foreign import one_line
from tare.records import Cell, CurveEstimate, CurvePoint, Dimension, Direction, PointEstimate
from tare.report.places import place_said

_Metric = tuple[Cell, str, str, Direction, tuple[Dimension, ...]]
_SPANNED = 2
_Point = TypeVar("_Point", PointEstimate, CurvePoint)


def one_metric(estimate: CurveEstimate) -> _Metric:
    """What the curves of one metric have in common."""
    curve = estimate.curve
    return curve.cell, curve.metric, curve.unit, curve.direction, curve.dimensions


def projected(estimates: Iterable[CurveEstimate]) -> Iterator[tuple[CurveEstimate, ...]]:
    """Metric after metric, the estimates of all environments over the one or two dimensions of a picture."""
    metrics: dict[_Metric, list[CurveEstimate]] = {}
    for estimate in estimates:
        metrics.setdefault(one_metric(estimate), []).append(estimate)
    for curves in metrics.values():
        if len(curves[0].curve.dimensions) == 1:
            yield tuple(curves)
        else:
            yield from _slices(curves)


def _slices(curves: Sequence[CurveEstimate]) -> Iterator[tuple[CurveEstimate, ...]]:
    shown = _shown(curves)
    others = [number for number in range(len(curves[0].curve.dimensions)) if number not in shown]
    fixed = {tuple(point.at[number] for number in others) for curve in curves for point in curve.points}
    for places in sorted(fixed):
        kept = dict(zip(others, places, strict=True))
        yield tuple(cut for curve in curves if (cut := _cut(curve, shown, kept)).points)


def _shown(curves: Sequence[CurveEstimate]) -> list[int]:
    """The dimensions of the pictures: those that vary, at most two, in their order."""
    counts = [
        len({point.at[number] for curve in curves for point in curve.points})
        for number in range(len(curves[0].curve.dimensions))
    ]
    largest = sorted(range(len(counts)), key=lambda number: -counts[number])[:_SPANNED]
    return sorted(number for number in largest if counts[number] > 1) or [0]


def _cut(estimate: CurveEstimate, shown: Sequence[int], kept: dict[int, float]) -> CurveEstimate:
    curve = estimate.curve
    whole = [
        (_at(point, shown), _at(own, shown))
        for point, own in zip(estimate.points, curve.points, strict=True)
        if all(point.at[number] == place for number, place in kept.items())
    ]
    said = "".join(f", {place_said(place, curve.dimensions[number])}" for number, place in kept.items())
    return replace(
        estimate,
        curve=replace(
            curve,
            metric=f"{one_line(curve.metric)}{said}",
            dimensions=tuple(curve.dimensions[number] for number in shown),
            points=tuple(own for _, own in whole),
        ),
        points=tuple(point for point, _ in whole),
    )


def _at(point: _Point, shown: Sequence[int]) -> _Point:
    return replace(point, at=tuple(point.at[number] for number in shown))
