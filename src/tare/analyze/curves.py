# SPDX-License-Identifier: Apache-2.0
"""Curves and surfaces with their intervals: each point by itself, and a band around all of them."""

import math
from collections.abc import Sequence
from dataclasses import replace

from tare.analyze.contrasts import against_natives
from tare.records import Curve, CurveEstimate, CurvePoint, Estimate, PointEstimate
from tare.statistics.contrasts import estimate
from tare.statistics.estimate import LEVEL, as_fraction, transformed
from tare.statistics.signed_rank import hodges_lehmann
from tare.statistics.simultaneous import band

_LARGEST_LOG = 709.0
"""About the logarithm of the largest float, which garbage values may approach."""


def curve_estimates(curves: Sequence[Curve]) -> tuple[CurveEstimate, ...]:
    """One estimate per curve, with one per place in it.

    The intervals of ``overhead`` are pointwise: each contains its true value at its level, but not all of a curve
    together; the intervals of ``together`` do.
    """
    return tuple(
        CurveEstimate(curve=curve, points=_with_band(curve, tuple(map(_point, curve.points))))
        for curve in curves
    )


def _point(point: CurvePoint) -> PointEstimate:
    logs = hodges_lehmann([math.log(value) for value in point.values])
    contrast = against_natives(point.log_ratios, point.control_log_ratios)
    return PointEstimate(
        at=point.at,
        value=transformed(logs, _value),
        overhead=as_fraction(estimate(contrast)) if point.log_ratios else None,
    )


def _value(log: float) -> float:
    return math.exp(min(log, _LARGEST_LOG))


def _with_band(curve: Curve, points: tuple[PointEstimate, ...]) -> tuple[PointEstimate, ...]:
    """The points with the band of the blocks that all of them have."""
    common = set.intersection(*(set(point.blocks) for point in curve.points)) if curve.points else set()
    if not all(point.log_ratios for point in curve.points):
        return points
    ratios, controls = (
        [
            [
                value
                for block, value in zip(point.blocks, getattr(point, name), strict=True)
                if block in common
            ]
            for point in curve.points
        ]
        for name in ("log_ratios", "control_log_ratios")
    )
    around = band(list(zip(*ratios, strict=True)), list(zip(*controls, strict=True)))
    if around is None:
        return points
    ends = zip(points, around.low.tolist(), around.centre.tolist(), around.high.tolist(), strict=True)
    return tuple(
        replace(
            point,
            together=as_fraction(Estimate(point=centre, low=low, high=high, level=LEVEL, n=len(common))),
        )
        for point, low, centre, high in ends
    )
