# SPDX-License-Identifier: Apache-2.0
"""What a whole curve or surface shows, in a sentence: at how many places, where most, and what all lie within."""

import math
from collections.abc import Sequence

from tare.drawing.words import counted
from tare.foreign import one_line
from tare.records import TOO_BUSY, CurveEstimate, PointEstimate
from tare.report.places import place_said
from tare.units import DASH

_TOGETHER = "typical overhead, all together at ≥ {:.0f} %, n = {}"


def decided(point: PointEstimate) -> int:
    """1: slower, -1: faster, with all places of the curve in mind; 0: neither is shown."""
    band = point.together
    if band is None or band.low is None or band.high is None:
        return 0
    return int(band.low > 0) - int(band.high < 0)


def together_said(estimate: CurveEstimate) -> str | None:
    """``"docker: slower at 3 of 48 sizes, ..."``; ``None`` where no band holds for all places together."""
    name = one_line(estimate.curve.environment)
    if estimate.withheld:
        return f"{name}: {TOO_BUSY} what holds for all of {_counted(estimate)}"
    banded = [point for point in estimate.points if point.together and point.together.low is not None]
    if not banded or banded[0].together is None:
        return None
    band = banded[0].together
    parts = [_part(estimate, banded, sign, word) for sign, word in ((1, "slower"), (-1, "faster"))]
    known = ", ".join(part for part in parts if part) or f"no difference shown at any of {_counted(estimate)}"
    return f"{name}: {known}; {_within(banded)} ({_TOGETHER.format(100 * band.level, band.n)})"


def _counted(estimate: CurveEstimate) -> str:
    dimensions = estimate.curve.dimensions
    word = one_line(dimensions[0].name) if len(dimensions) == 1 and dimensions[0].unit else "place"
    return counted(len(estimate.points), word)


def _part(estimate: CurveEstimate, banded: Sequence[PointEstimate], sign: int, word: str) -> str:
    shown = [point for point in banded if decided(point) == sign]
    if not shown:
        return ""
    most = max(shown, key=lambda point: sign * point.together.point if point.together else 0.0)
    places = zip(most.at, estimate.curve.dimensions, strict=True)
    where = ", ".join(one_line(place_said(*place)) for place in places)
    band = most.together
    extent = f" ({_times(band.low or 0.0, band.high or 0.0)} native's time)" if band else ""
    return f"{word} at {len(shown)} of {_counted(estimate)}, most at {where}{extent}"


def _within(banded: Sequence[PointEstimate]) -> str:
    ends = [point.together for point in banded if point.together]
    low = min(end.low for end in ends if end.low is not None)
    high = max(end.high for end in ends if end.high is not None)
    return f"everywhere within {_times(low, high)} native's time"


def _times(low: float, high: float) -> str:
    """With three digits, rounded outward."""
    unit = 10 ** max(2 - math.floor(math.log10(1 + high)), 0)
    ends = math.floor((1 + low) * unit) / unit, math.ceil((1 + high) * unit) / unit
    return f"{DASH.join(f'{end:g}' for end in ends)} times"
