# SPDX-License-Identifier: Apache-2.0
"""Dots with intervals, one per row, in sections under headings, over the margin and a band."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tare.drawing.axis import Axis
from tare.drawing.canvas import Canvas, Row
from tare.drawing.marks import PAPER, MarkStyle
from tare.drawing.words import interval_percent, point_percent
from tare.foreign import one_line
from tare.records import Estimate, Word

TICKS_PX = 24.0
TALL_PX = 400.0
"""A taller chart has ticks at the top too."""
CHARACTER_EM = 0.63
"""A letter's width in the widest of the usual fonts."""
_FIGURE_PX, _INTERVAL_PX, _COUNT_PX = 58.0, 192.0, 226.0
"""Right ends of the columns at the right: estimate, interval and n; the word follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Sizes in px. The gutter holds the rows' names; ``figures_px`` is 0 where there are no figures."""

    plot_px: float
    gutter_px: float
    figures_px: float
    row_px: float
    font_px: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Rows over one band, below a heading; nothing is drawn for an empty one."""

    rows: Sequence[Row]
    """Rows from ``interval_row``."""
    heading: str = ""
    band: tuple[float, float] | None = None
    """Shaded range, as fractions."""


@dataclass(slots=True)
class _IntervalDrawing:
    rows: list[Row] = field(default_factory=list)
    bands: list[Row] = field(default_factory=list)
    spans: list[tuple[float, float]] = field(default_factory=list)
    """Vertical range of each section's rows in the picture."""
    headings: list[Row] = field(default_factory=list)
    height_px: float = 0


def span(estimate: Estimate) -> tuple[float, float] | None:
    """The interval as a band; ``None`` where there is none."""
    return None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)


def interval_row(
    name: str,
    what: str,
    estimate: Estimate,
    word: str,
    look: MarkStyle,
    *,
    decided: bool,
    quiet: bool = False,
) -> Row:
    """One dot with its interval (fractions, shown in per cent); ``what`` is for the tooltip.

    Undecided dots are hollow; ``quiet`` ones are faint.
    """
    point, interval, label = point_percent(estimate), interval_percent(estimate), one_line(name)
    return {
        "name": label,
        "point": estimate.point,
        "x": estimate.low,
        "x2": estimate.high,
        "shape": look.shape,
        "stroke": look.colour,
        "fill": look.colour if decided else PAPER,
        "ink": "var(--soft)" if quiet else "var(--ink)",
        "figure": point,
        "interval": interval,
        "count": str(estimate.n),
        "word": word,
        "told": f"{label}, {one_line(what)}: {point}, interval {interval}, n = {estimate.n}: {word}",
    }


def word_label(said: str) -> str:
    """Shorten the word for the column at the right."""
    return "within margin" if said == Word.WITHIN else said


def interval_chart(sections: Sequence[Section], axis: Axis, margin: float, frame: Frame) -> dict[str, Any]:
    """Describe the chart in Vega-Lite; axis and margin are in fractions."""
    drawing = _IntervalDrawing()
    for section in sections:
        _add(section, frame, drawing)
    canvas = Canvas(axis, Axis(low=drawing.height_px, high=0), frame.font_px)
    canvas.bands(drawing.bands)
    _scales(canvas, axis, margin, drawing)
    canvas.lines([row for row in drawing.rows if row["x2"] is not None], stroke_px=2)
    canvas.points([{**row, "x": row["point"]} for row in drawing.rows], size=60)
    _labels(canvas, drawing, frame)
    padding = {"left": frame.gutter_px, "right": frame.figures_px or 12.0, "bottom": TICKS_PX}
    padding["top"] = TICKS_PX if drawing.height_px > TALL_PX else 2.0
    return canvas.specification(frame.plot_px, drawing.height_px, padding)


def _add(section: Section, frame: Frame, drawing: _IntervalDrawing) -> None:
    if section.heading:
        middle = drawing.height_px + 0.65 * frame.row_px
        drawing.headings.append({"y": middle, "text": one_line(section.heading), "ink": "var(--ink)"})
        drawing.height_px += 1.2 * frame.row_px
    top = drawing.height_px
    for row in section.rows:
        middle = drawing.height_px + frame.row_px / 2
        drawing.rows.append({**row, "y": middle, "y2": middle})
        drawing.height_px += frame.row_px
    drawing.spans.append((top, drawing.height_px))
    if section.band is not None:
        low, high = section.band
        drawing.bands.append({"x": low, "x2": high, "y": top, "y2": drawing.height_px})


def _scales(canvas: Canvas, axis: Axis, margin: float, drawing: _IntervalDrawing) -> None:
    colours = {tick: "var(--grid)" if tick else "var(--axis)" for tick in axis.ticks}
    canvas.lines([_upright(at, span, colour) for span in drawing.spans for at, colour in colours.items()])
    margins = [_upright(at, span, "var(--axis)") for span in drawing.spans for at in (-margin, margin)]
    canvas.lines(margins, dashed=True)
    ticks = zip(axis.ticks, axis.labels, strict=True)
    labels = [{"x": tick, "text": label, "ink": "var(--soft)"} for tick, label in ticks]
    canvas.texts(labels, y_px=drawing.height_px + 13, align="center")
    if drawing.height_px > TALL_PX:
        canvas.texts(labels, y_px=-13, align="center")


def _upright(at: float, span: tuple[float, float], colour: str) -> Row:
    return {"x": at, "x2": at, "y": span[0], "y2": span[1], "stroke": colour}


def _labels(canvas: Canvas, drawing: _IntervalDrawing, frame: Frame) -> None:
    character_px = CHARACTER_EM * frame.font_px
    widest = int((frame.gutter_px + frame.plot_px + frame.figures_px) / character_px)
    headings = [{**row, "text": cut(row["text"], widest)} for row in drawing.headings]
    canvas.texts(headings, x_px=-frame.gutter_px, bold=True)
    longest = int((frame.gutter_px - 12) / character_px)
    names = [{**row, "name": cut(row["name"], longest)} for row in drawing.rows]
    right = frame.plot_px + 12
    columns = [("name", -12.0, "right")]
    if frame.figures_px:
        columns += [
            ("figure", right + _FIGURE_PX, "right"),
            ("interval", right + _INTERVAL_PX, "right"),
            ("count", right + _COUNT_PX, "right"),
            ("word", right + _COUNT_PX + 14, "left"),
        ]
    for column, x_px, align in columns:
        rows = [{"y": row["y"], "text": row[column], "ink": row["ink"]} for row in names]
        canvas.texts(rows, x_px=x_px, align=align)


def cut(name: str, longest: int) -> str:
    """Shorten a name to ``longest`` characters."""
    return name if len(name) <= longest else f"{name[: longest - 1]}\N{HORIZONTAL ELLIPSIS}"
