# SPDX-License-Identifier: Apache-2.0
"""Curves with a separate interval at each place; docs/netpipe.md."""

import math
from collections.abc import Sequence

from tare.analyze.contrasts import against_natives
from tare.records import Curve, CurveEstimate, CurvePoint, PointEstimate
from tare.statistics.contrasts import estimate
from tare.statistics.estimate import as_fraction, transformed
from tare.statistics.signed_rank import hodges_lehmann

_LARGEST_LOG = 709.0
"""About the logarithm of the largest float, which garbage values may approach."""


def curve_estimates(curves: Sequence[Curve]) -> tuple[CurveEstimate, ...]:
    """One estimate per curve, with one per place in it.

    The intervals are pointwise: each contains its true value at its level, but not all of a curve together.
    """
    return tuple(CurveEstimate(curve=curve, points=tuple(map(_point, curve.points))) for curve in curves)


def _point(point: CurvePoint) -> PointEstimate:
    logs = hodges_lehmann([math.log(value) for value in point.values])
    contrast = against_natives(point.log_ratios, point.control_log_ratios)
    return PointEstimate(
        x=point.x,
        value=transformed(logs, _value),
        overhead=as_fraction(estimate(contrast)) if point.log_ratios else None,
    )


def _value(log: float) -> float:
    return math.exp(min(log, _LARGEST_LOG))
