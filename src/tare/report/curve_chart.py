# SPDX-License-Identifier: Apache-2.0
"""The picture of curves, with its logarithmic axes: absolute values, and below them ratios to native."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tare.drawing.axis import Axis
from tare.drawing.canvas import Canvas, Row
from tare.drawing.marks import CONTROL, PAPER, MarkStyle
from tare.foreign import one_line
from tare.records import NATIVE, CurveEstimate, Estimate, PointEstimate
from tare.report.curve_axes import PlaceScale, place_axis, ratio_axis, value_axis
from tare.report.curves import CurveMetric, point_said

_HEADING_PX, _NAME_PX, _TICKS_PX = 26.0, 24.0, 24.0
_MARKS_APART_PX = 110.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveFrame:
    """Sizes in px."""

    plot_px: float
    gutter_px: float
    """Room for the labels of the upright axes."""
    values_px: float
    """Height of the panel of absolute values."""
    strip_px: float
    """Least height of one environment's ratios."""
    strips_px: float
    """What few environments share for theirs."""
    label_px: float
    """Room for a label of the axis of places."""
    font_px: float


WIDE = CurveFrame(
    plot_px=866, gutter_px=72, values_px=300, strip_px=56, strips_px=240, label_px=56, font_px=13
)
NARROW = CurveFrame(
    plot_px=270, gutter_px=70, values_px=230, strip_px=52, strips_px=200, label_px=52, font_px=12.5
)
"""For a page of 960 px and one of 362 px."""


@dataclass(frozen=True, slots=True)
class _Panel:
    """An axis laid over a stretch of the picture, from ``top`` down."""

    axis: Axis
    top: float
    height: float

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def y(self, value: float) -> float:
        """How far down the picture a value of the axis stands; at the edge when it is beyond."""
        at = min(max(self.axis.position(value), 0.0), 1.0)
        return self.top + self.height * (1 - at)


def curve_chart(
    metric: CurveMetric, looks: Mapping[str, MarkStyle], margin: float, frame: CurveFrame
) -> dict[str, Any]:
    """Describe the chart in Vega-Lite; ``margin`` is the fraction that counts as no difference."""
    scale = PlaceScale.of(metric.places, metric.dimension)
    across = place_axis(scale, metric.places, frame.label_px, frame.plot_px)
    values = _Panel(_value_axis(metric, frame), _HEADING_PX, frame.values_px)
    top = values.bottom + _TICKS_PX + _HEADING_PX
    strips = list(_strips(metric, ratios(metric, margin, frame), frame, top))
    bottom = max(panel.bottom for panel in (values, *strips))
    canvas = Canvas(across, Axis(low=bottom, high=0), frame.font_px)
    _rule(canvas, (values, *strips), across)
    _draw_values(canvas, metric, looks, values, frame, scale)
    for curve, strip in zip(metric.environments, strips, strict=False):
        overheads = [(scale.at(point.at[0]), point.overhead) for point in curve.points]
        drawn = [(x, overhead) for x, overhead in overheads if overhead is not None]
        _draw_band(canvas, drawn, looks[curve.curve.environment], strip)
        _draw_line(canvas, drawn, looks[curve.curve.environment], strip)
    _head(canvas, metric, values, frame)
    _name(canvas, metric, looks, strips, across, frame)
    padding = {"left": frame.gutter_px, "right": 22.0, "top": 2.0, "bottom": _TICKS_PX}
    return canvas.specification(frame.plot_px, bottom, padding)


def _value_axis(metric: CurveMetric, frame: CurveFrame) -> Axis:
    points = [point.value.point for curve in metric.curves for point in curve.points]
    return value_axis(points, metric.unit, frame.values_px)


def ratios(metric: CurveMetric, margin: float, frame: CurveFrame) -> Axis | None:
    """The axis of all ratios to native, the same for every environment; ``None`` when there are none."""
    overheads = [point.overhead for curve in metric.environments for point in curve.points if point.overhead]
    if not overheads or metric.same_ratios:
        return None
    points = [estimate.point for estimate in overheads]
    ends = [end for estimate in overheads for end in (estimate.low, estimate.high) if end is not None]
    return ratio_axis(points, ends, margin, _strip_px(metric, frame), 1.05 * frame.font_px)


def _strip_px(metric: CurveMetric, frame: CurveFrame) -> float:
    return max(frame.strip_px, frame.strips_px / (len(metric.environments) + 1))


def _strips(metric: CurveMetric, axis: Axis | None, frame: CurveFrame, top: float) -> Iterator[_Panel]:
    """One panel of ratios per environment."""
    if axis is None:
        return
    height = _strip_px(metric, frame)
    for number in range(len(metric.environments)):
        yield _Panel(axis, top + number * (height + _NAME_PX) + _NAME_PX, height)


def _rule(canvas: Canvas, panels: Sequence[_Panel], across: Axis) -> None:
    """Grid lines and tick labels of all panels; the line at a ratio of 1 is darker."""
    uprights = [
        {"x": tick, "x2": tick, "y": panel.top, "y2": panel.bottom, "stroke": "var(--grid)"}
        for panel in panels
        for tick in across.ticks
    ]
    values, *strips = panels
    levels = [
        *_levels(values, across),
        *(row for strip in strips for row in _levels(strip, across, darker=0.0)),
    ]
    canvas.lines([*uprights, *levels])
    canvas.texts(levels, x_px=-7, align="right")
    ticks = zip(across.ticks, across.labels, strict=True)
    places = [{"x": tick, "text": label, "ink": "var(--soft)"} for tick, label in ticks]
    for bottom in {panels[0].bottom, panels[-1].bottom}:
        canvas.texts(places, y_px=bottom + 13, align="center")


def _levels(panel: _Panel, across: Axis, darker: float | None = None) -> Iterator[Row]:
    for tick, label in zip(panel.axis.ticks, panel.axis.labels, strict=True):
        y = panel.y(tick)
        stroke = "var(--axis)" if tick == darker else "var(--grid)"
        line = {"x": across.low, "x2": across.high, "y": y, "y2": y, "stroke": stroke}
        yield {**line, "text": label, "ink": "var(--soft)"}


def _draw_values(
    canvas: Canvas,
    metric: CurveMetric,
    looks: Mapping[str, MarkStyle],
    panel: _Panel,
    frame: CurveFrame,
    scale: "PlaceScale",
) -> None:
    """All curves in one panel, native below the others.

    Bands would cover each other here, so each curve bears its mark and interval at a few places of its own.
    """
    apart = max(len(metric.places) * _MARKS_APART_PX / frame.plot_px, 1.0)
    for number, curve in enumerate(metric.curves):
        look = looks.get(curve.curve.environment, CONTROL)
        points = [(point, _logarithms(point.value)) for point in curve.points]
        _draw_line(canvas, [(scale.at(point.at[0]), value) for point, value in points], look, panel)
        first = apart * number / len(metric.curves)
        places = {round(first + apart * step) for step in range(len(points))}
        marked = [each for position, each in enumerate(points) if position in places]
        rows = [
            {**_mark(curve, point, value, look, panel), **dict.fromkeys(("x", "x2"), scale.at(point.at[0]))}
            for point, value in marked
        ]
        canvas.lines([row for row in rows if row["y2"] is not None], stroke_px=1.8)
        canvas.points([row | {"y": row["middle"]} for row in rows], size=42)


def _mark(curve: CurveEstimate, point: PointEstimate, value: Estimate, look: MarkStyle, panel: _Panel) -> Row:
    return {
        "middle": panel.y(value.point),
        "y": None if value.low is None else panel.y(value.low),
        "y2": None if value.high is None else panel.y(value.high),
        "shape": look.shape,
        "stroke": look.colour,
        "fill": PAPER if curve.curve.environment == NATIVE else look.colour,
        "told": point_said(curve, point),
    }


def _logarithms(estimate: Estimate) -> Estimate:
    low, high = estimate.low, estimate.high
    return replace(
        estimate,
        point=math.log10(estimate.point),
        low=None if low is None else math.log10(low),
        high=None if high is None else math.log10(high),
    )


def _draw_line(
    canvas: Canvas, drawn: Sequence[tuple[float, Estimate]], look: MarkStyle, panel: _Panel
) -> None:
    rows = [{"x": x, "y": panel.y(each.point), "series": 0, "stroke": look.colour} for x, each in drawn]
    canvas.paths(rows, stroke_px=1.8)


def _draw_band(
    canvas: Canvas, drawn: Sequence[tuple[float, Estimate]], look: MarkStyle, panel: _Panel
) -> None:
    """A band wherever there are intervals."""
    rows: list[Row] = []
    stretch = 0
    for x, estimate in drawn:
        if estimate.low is None or estimate.high is None:
            stretch += 1
            continue
        ends = {"y": panel.y(estimate.low), "y2": panel.y(estimate.high)}
        rows.append({"x": x, **ends, "series": stretch, "fill": look.colour})
    canvas.areas(rows)


def _head(canvas: Canvas, metric: CurveMetric, values: _Panel, frame: CurveFrame) -> None:
    heads = [_text(values.top - 14, f"{one_line(metric.name)}, {metric.better}")]
    if metric.environments and not metric.same_ratios:
        heads.append(_text(values.bottom + _TICKS_PX + 14, "Time as a ratio to native; above 1 is slower"))
    canvas.texts(heads, x_px=-frame.gutter_px, bold=True)


def _name(
    canvas: Canvas,
    metric: CurveMetric,
    looks: Mapping[str, MarkStyle],
    strips: Sequence[_Panel],
    across: Axis,
    frame: CurveFrame,
) -> None:
    """Above each environment's ratios its name, and the mark that it bears among the absolute values."""
    names = [curve.curve.environment for curve in metric.environments]
    rows = [_text(strip.top - 10, one_line(name)) for strip, name in zip(strips, names, strict=False)]
    canvas.texts(rows, x_px=16)
    x = across.low + 7 * (across.high - across.low) / frame.plot_px
    marks = [
        {**row, "x": x, "shape": looks[name].shape, "stroke": looks[name].colour, "fill": looks[name].colour}
        for row, name in zip(rows, names, strict=False)
    ]
    canvas.points(marks, size=42, titled=False)


def _text(y: float, text: str) -> Row:
    return {"y": y, "text": text, "ink": "var(--ink)"}
