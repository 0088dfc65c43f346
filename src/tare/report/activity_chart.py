# SPDX-License-Identifier: Apache-2.0
"""Stacked bars: the shares of what a profiled program's ranks are at, each with its interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tare.drawing.axis import Axis
from tare.drawing.canvas import Canvas, Row
from tare.drawing.interval_chart import CHARACTER_EM, Frame, cut
from tare.drawing.words import interval_percent, quantity
from tare.foreign import one_line
from tare.records import Activity, ActivityEstimate, ActivitySplit, Cell
from tare.report.activities import LOOKS, NAMES, of, share_said
from tare.report.arrange import place

_TICKS_PX = 24.0
_TALL_PX = 400.0
"""A chart taller than this has its ticks at the top too."""
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_BAR = 0.76
"""Of a row's height."""
_COLUMNS_PX = {
    Activity.INIT: 86.0,
    Activity.COMPUTE: 78.0,
    Activity.COMMUNICATION: 112.0,
    Activity.IO: 58.0,
}
"""Widths of the columns of figures at the right; n follows."""
_COUNT_PX = 40.0


@dataclass(slots=True)
class _Drawing:
    height_px: float = 0
    headings: list[Row] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    """Of each bar its name and its figures, by the names of their columns."""
    bars: list[Row] = field(default_factory=list)
    whiskers: list[Row] = field(default_factory=list)
    spans: list[tuple[float, float]] = field(default_factory=list)
    """From where to where the bars below each heading reach down the picture."""


def activity_chart(
    cells: Mapping[Cell, Sequence[ActivitySplit]], told: Sequence[Activity], frame: Frame
) -> dict[str, Any]:
    """Describe the chart in Vega-Lite: for each environment a bar, below the heading of its cell.

    Each activity's interval is a line from the bar's own beginning, so it tells how long that part may be; the lines
    of one bar lie one below the other.
    """
    drawing = _Drawing()
    for cell, splits in cells.items():
        heading = {"y": drawing.height_px + 0.65 * frame.row_px, "text": place(cell), "ink": "var(--ink)"}
        drawing.headings.append(heading)
        drawing.height_px += 1.2 * frame.row_px
        top = drawing.height_px
        for split in splits:
            _add(split, told, frame, drawing)
        drawing.spans.append((top, drawing.height_px))
    ends = (row["x2"] for row in (*drawing.bars, *drawing.whiskers))
    canvas = Canvas(Axis(low=0, high=max(1.0, *ends)), Axis(low=drawing.height_px, high=0), frame.font_px)
    _scales(canvas, drawing)
    canvas.bars(drawing.bars)
    canvas.lines([{**row, "stroke": "var(--paper)"} for row in drawing.whiskers], stroke_px=3.4)
    canvas.lines([{**row, "stroke": "var(--ink)"} for row in drawing.whiskers], stroke_px=1.4)
    _labels(canvas, drawing, told, frame)
    head = frame.figures_px or drawing.height_px > _TALL_PX
    padding = {"left": frame.gutter_px, "right": frame.figures_px or 22.0, "bottom": _TICKS_PX}
    return canvas.specification(
        frame.plot_px, drawing.height_px, padding | {"top": _TICKS_PX if head else 2.0}
    )


def _add(split: ActivitySplit, told: Sequence[Activity], frame: Frame, drawing: _Drawing) -> None:
    summary, shown = split.summary, of(split, told)
    middle, bar_px = drawing.height_px + frame.row_px / 2, _BAR * frame.row_px
    top, begin = middle - bar_px / 2, 0.0
    for lane, one in enumerate(shown):
        end, share = begin + one.share.point, one.share
        bar = {"x": begin, "x2": end, "y": top, "y2": top + bar_px, "fill": LOOKS[one.activity].colour}
        drawing.bars.append(bar | {"told": f"{one_line(summary.environment)}, {_told(one)}"})
        if share.low is not None and share.high is not None:
            y = top + (lane + 0.5) * bar_px / len(shown)
            drawing.whiskers.append({"x": begin + share.low, "x2": begin + share.high, "y": y, "y2": y})
        begin = end
    figures = {NAMES[one.activity]: share_said(one.share) for one in shown}
    drawing.rows.append(
        {"y": middle, "name": one_line(summary.environment), **figures, "n": str(split.whole_s.n)}
    )
    drawing.height_px += frame.row_px


def _told(one: ActivityEstimate) -> str:
    figures = (
        f"{share_said(one.share)}, interval {interval_percent(one.share)}, {quantity(one.time_s.point, 's')}"
    )
    return f"{NAMES[one.activity]}: {figures}, n = {one.share.n}"


def _scales(canvas: Canvas, drawing: _Drawing) -> None:
    lines = [
        {"x": tick, "x2": tick, "y": top, "y2": bottom, "stroke": "var(--grid)" if tick else "var(--axis)"}
        for top, bottom in drawing.spans
        for tick in _TICKS
    ]
    canvas.lines(lines)
    labels = [{"x": tick, "text": f"{100 * tick:.0f} %", "ink": "var(--soft)"} for tick in _TICKS]
    canvas.texts(labels, y_px=drawing.height_px + 13, align="center")
    if drawing.height_px > _TALL_PX:
        canvas.texts(labels, y_px=-13, align="center")


def _labels(canvas: Canvas, drawing: _Drawing, told: Sequence[Activity], frame: Frame) -> None:
    character_px = CHARACTER_EM * frame.font_px
    widest = int((frame.gutter_px + frame.plot_px + frame.figures_px) / character_px)
    headings = [{**row, "text": cut(row["text"], widest)} for row in drawing.headings]
    canvas.texts(headings, x_px=-frame.gutter_px, bold=True)
    longest = int((frame.gutter_px - 12) / character_px)
    _column(canvas, [{**row, "name": cut(row["name"], longest)} for row in drawing.rows], "name", -12.0)
    right_px = frame.plot_px
    columns = [*((NAMES[activity], _COLUMNS_PX[activity]) for activity in told), ("n", _COUNT_PX)]
    for column, width_px in columns if frame.figures_px else ():
        right_px += width_px
        _column(canvas, drawing.rows, column, right_px)
        canvas.texts([{"text": column, "ink": "var(--soft)"}], x_px=right_px, y_px=-13, align="right")


def _column(canvas: Canvas, rows: Sequence[Row], name: str, right_px: float) -> None:
    texts = [{"y": row["y"], "text": row[name], "ink": "var(--ink)"} for row in rows]
    canvas.texts(texts, x_px=right_px, align="right")
