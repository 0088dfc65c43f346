# SPDX-License-Identifier: Apache-2.0
"""The picture of curves, with its logarithmic axes: absolute values, and below them ratios to native."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tare.drawing.axis import LINEAR_UP_TO, Axis
from tare.drawing.canvas import Canvas, Row
from tare.drawing.marks import CONTROL, PAPER, MarkStyle
from tare.drawing.words import quantity
from tare.foreign import one_line
from tare.records import NATIVE, CurveEstimate, Dimension, Estimate, PointEstimate
from tare.report.curves import CurveMetric, place_label, point_said

_HEADING_PX, _NAME_PX, _TICKS_PX = 26.0, 24.0, 24.0
_MARKS_APART_PX = 110.0
_OCTAVES = (1, 2, 4, 5, 10)
_DECADE_STEPS = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0))
_RATIO_STEPS = (0.01, 0.02, 0.05, 0.1)
_RATIOS = (1, 10, 0.1, 100, 0.01, 1000, 2, 0.5, 1.2, 0.8, 5, 0.2, 1.1, 0.9, 1.5, 20, 50, 1.05, 0.95, 3)
"""What a logarithmic axis of ratios shows where there is room, the first before the others."""
_ROOM = 0.04
_LABEL_PX = 18.0
_ENDS_SHOWN = 0.975
"""Share of the intervals' ends that a ratio axis has room for, so that a few wide ones do not flatten the rest."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceScale:
    """How places stand on a logarithmic axis: as powers of two where they are bytes, else of ten.

    0 has no logarithm: it stands one octave, or a third of a decade, before the least place above it.
    """

    dimension: Dimension
    zero: float
    """The power at which 0 stands."""

    @classmethod
    def of(cls, places: Iterable[float], dimension: Dimension) -> "PlaceScale":
        """The scale of these places."""
        least = min((place for place in places if place > 0), default=1.0)
        step = 1.0 if dimension.unit == "B" else 1 / 3
        return cls(dimension=dimension, zero=_power(least, dimension) - step)

    @property
    def base(self) -> float:
        return 2.0 if self.dimension.unit == "B" else 10.0

    def at(self, place: float) -> float:
        """Where a place stands."""
        return _power(place, self.dimension) if place > 0 else self.zero


def _power(place: float, dimension: Dimension) -> float:
    return math.log2(place) if dimension.unit == "B" else math.log10(place)


def place_axis(scale: PlaceScale, places: Iterable[float], label_px: float, width_px: float) -> Axis:
    """The axis of places; ``label_px`` is the room that a label needs. 0 has a tick of its own."""
    known = set(places)
    powers = [scale.at(place) for place in known]
    low, high = min(powers), max(powers)
    low, high = (low - 0.5, high + 0.5) if high - low < 1 else (low, high)
    room = 0.012 * (high - low)
    per_power_px = width_px / (high - low + 2 * room)
    step = next((each for each in _OCTAVES if each * per_power_px >= label_px), _OCTAVES[-1])
    first = scale.zero + label_px / per_power_px if 0 in known else low
    ticks = [float(power) for power in range(math.ceil(first), math.floor(high) + 1) if power % step == 0]
    shown = [*([(scale.zero, 0.0)] if 0 in known else []), *((tick, scale.base**tick) for tick in ticks)]
    return Axis(
        low=low - room,
        high=high + room,
        ticks=tuple(tick for tick, _ in shown),
        labels=tuple(_short(place_label(place, scale.dimension)) for _, place in shown),
    )


def _short(label: str) -> str:
    """Without the name of what is counted: the axis has it in its caption."""
    return label.rpartition(" = ")[2]


def value_axis(values: Iterable[float], unit: str, height_px: float) -> Axis:
    """Powers of ten around positive ``values``, with as many ticks as there is room for."""
    powers = [math.log10(value) for value in values]
    low, high = min(powers), max(powers)
    room = max(_ROOM * (high - low), 0.02)
    low, high = low - room, high + room
    sets = [list(_decade_ticks(low, high, steps)) for steps in _DECADE_STEPS]
    ticks = next((ticks for ticks in sets if len(ticks) >= max(3.0, height_px / 60)), sets[-1])
    ticks = ticks[:: math.ceil(len(ticks) * _LABEL_PX / height_px) or 1]
    return Axis(
        low=low, high=high, ticks=tuple(ticks), labels=tuple(quantity(10**tick, unit) for tick in ticks)
    )


def _decade_ticks(low: float, high: float, steps: Sequence[float]) -> Iterator[float]:
    for decade in range(math.floor(low), math.ceil(high)):
        for step in steps:
            tick = decade + math.log10(step)
            if low <= tick <= high:
                yield tick


def ratio_axis(
    points: Sequence[float], ends: Sequence[float], margin: float, height_px: float, label_px: float
) -> Axis:
    """Make an axis of overheads (fractions) that is labelled with ratios to native.

    Like ``overhead_axis`` it is logarithmic on both sides of 1 when it must reach far. It has room for all
    ``points`` and for most of the intervals' ``ends``.
    """
    shown = [*points, *_most(ends), -1.5 * margin, 1.5 * margin]
    low, high = min(shown), max(shown)
    room = _ROOM * (high - low)
    if max(-low, high) <= LINEAR_UP_TO:
        axis = Axis(low=low - room, high=high + room)
        return _with_ticks(axis, list(_even_ticks(axis, height_px, label_px)))
    axis = Axis(low=max(1.15 * low, -0.999), high=1.15 * high, constant=2 * margin)
    return _with_ticks(axis, list(_clear_ticks(axis, height_px, label_px)))


def _most(ends: Sequence[float]) -> list[float]:
    ordered = sorted(ends)
    left_out = int((1 - _ENDS_SHOWN) * len(ordered))
    return ordered[left_out : len(ordered) - left_out]


def _even_ticks(axis: Axis, height_px: float, label_px: float) -> Iterator[float]:
    per_px = (axis.high - axis.low) / height_px
    step = next((each for each in _RATIO_STEPS if each >= label_px * per_px), _RATIO_STEPS[-1])
    for number in range(math.ceil(axis.low / step), math.floor(axis.high / step) + 1):
        yield number * step


def _clear_ticks(axis: Axis, height_px: float, label_px: float) -> Iterator[float]:
    """Each tick that stands clear of those before it in the list."""
    taken: list[float] = []
    for tick in (ratio - 1 for ratio in _RATIOS):
        at = axis.position(tick) * height_px
        if axis.low <= tick <= axis.high and all(abs(at - other) >= label_px for other in taken):
            taken.append(at)
            yield tick


def _with_ticks(axis: Axis, ticks: Sequence[float]) -> Axis:
    labels = tuple(f"{1 + tick:.10g}" for tick in ticks)
    return Axis(low=axis.low, high=axis.high, ticks=tuple(ticks), labels=labels, constant=axis.constant)
