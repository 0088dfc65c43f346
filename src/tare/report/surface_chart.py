# SPDX-License-Identifier: Apache-2.0
"""The picture of surfaces: one map for each environment, the fuller a field's colour the larger its overhead."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tare.drawing.axis import Axis
from tare.drawing.canvas import Canvas, Row
from tare.foreign import one_line
from tare.records import CurveEstimate, PointEstimate
from tare.report.curves import point_said
from tare.report.surfaces import SurfaceMetric
from tare.report.together import decided

_NAME_PX, _LABELS_PX, _HATCHES = 26.0, 30.0, 2
_CHARACTER_PX = 7.2
_FAINTEST = 0.12
_LEAST_PER_FIELD = 0.02
"""A colour is full at the largest log-ratio of the picture, or at this one if that is less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceFrame:
    """Sizes in px."""

    plot_px: float
    gutter_px: float
    field_px: float
    """Height of a field."""
    font_px: float


WIDE = SurfaceFrame(plot_px=866, gutter_px=72, field_px=24, font_px=13)
NARROW = SurfaceFrame(plot_px=270, gutter_px=70, field_px=20, font_px=12.5)
"""For a page of 960 px and one of 362 px."""


def surface_chart(metric: SurfaceMetric, frame: SurfaceFrame) -> dict[str, Any]:
    """Describe the maps in Vega-Lite, one below the other."""
    columns, lines = len(metric.across), len(metric.down)
    panel_px = _NAME_PX + lines * frame.field_px + _LABELS_PX
    height = panel_px * len(metric.environments)
    canvas = Canvas(Axis(low=0, high=columns), Axis(low=height, high=0), frame.font_px)
    full = fullest(metric)
    for number, surface in enumerate(metric.environments):
        top = number * panel_px + _NAME_PX
        fields = list(_fields(metric, surface, top, frame, full))
        canvas.bars([row for row in fields if "fill" in row])
        canvas.lines([line for row in fields if row["undecided"] for line in _hatches(row)])
        _label(canvas, metric, surface, top, frame)
    padding = {"left": frame.gutter_px, "right": 22.0, "top": 2.0, "bottom": 4.0}
    return canvas.specification(frame.plot_px, height, padding)


def fullest(metric: SurfaceMetric) -> float:
    """The log-ratio whose colour is full."""
    known = [
        abs(_log(point)) for surface in metric.environments for point in surface.points if point.overhead
    ]
    return max([_LEAST_PER_FIELD, *known])


def _log(point: PointEstimate) -> float:
    return math.log1p(point.overhead.point) if point.overhead else 0.0


def _fields(
    metric: SurfaceMetric, surface: CurveEstimate, top: float, frame: SurfaceFrame, full: float
) -> Iterator[Row]:
    across = {place: number for number, place in enumerate(metric.across)}
    down = {place: number for number, place in enumerate(metric.down)}
    for point in surface.points:
        if point.overhead is None:
            continue
        x, y = across[point.at[0]], top + down[point.at[1]] * frame.field_px
        log = _log(point)
        yield {
            "x": x,
            "x2": x + 1,
            "y": y,
            "y2": y + frame.field_px,
            "fill": "var(--slower)" if log > 0 else "var(--faster)",
            "opacity": _FAINTEST + (1 - _FAINTEST) * abs(log) / full,
            "told": point_said(surface, point),
            "undecided": not decided(point),
        }


def _hatches(field: Row) -> Iterator[Row]:
    """Lines from the lower left to the upper right of a field."""
    width, height = field["x2"] - field["x"], field["y2"] - field["y"]
    for number in range(_HATCHES):
        begin, end = number / _HATCHES, (number + 1) / _HATCHES
        yield {
            "x": field["x"] + begin * width,
            "x2": field["x"] + end * width,
            "y": field["y"] + height,
            "y2": field["y"],
            "stroke": "var(--soft)",
        }


def _label(
    canvas: Canvas, metric: SurfaceMetric, surface: CurveEstimate, top: float, frame: SurfaceFrame
) -> None:
    first, second = (one_line(each.name) for each in metric.dimensions)
    bottom = top + len(metric.down) * frame.field_px
    heading = f"{one_line(surface.curve.environment)}: {second} (down) by {first} (across)"
    canvas.texts([{"y": top - 12, "text": heading, "ink": "var(--ink)"}], x_px=-frame.gutter_px, bold=True)
    ups = [
        {"y": top + (number + 0.5) * frame.field_px, "text": label, "ink": "var(--soft)"}
        for number, label in _spaced(metric.labels(1), frame.field_px, 1.2 * frame.font_px)
    ]
    canvas.texts(ups, x_px=-7, align="right")
    labels = metric.labels(0)
    room = max(map(len, labels)) * _CHARACTER_PX + 8
    acrosses = [
        {"x": number + 0.5, "text": label, "ink": "var(--soft)"}
        for number, label in _spaced(labels, frame.plot_px / len(labels), room)
    ]
    canvas.texts(acrosses, y_px=bottom + 13, align="center")


def _spaced(labels: Sequence[str], apart_px: float, needed_px: float) -> Iterator[tuple[int, str]]:
    """Every label, or every second one and so on, where there is no room."""
    step = max(1, math.ceil(needed_px / apart_px))
    return ((number, label) for number, label in enumerate(labels) if number % step == 0)
