# SPDX-License-Identifier: Apache-2.0
"""Where the time of profiled programs went: for programs, for a terminal, and as stacked bars with intervals."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.artist import Artist, Specification
from tare.drawing.axis import Axis
from tare.drawing.canvas import Canvas, Row
from tare.drawing.interval_chart import CHARACTER_EM, TALL_PX, TICKS_PX, Frame, cut
from tare.drawing.marks import MarkStyle
from tare.drawing.table import LEAST_NAME, add_name_column, name_cell, ruled_table
from tare.drawing.words import interval_percent, least_level, point_percent, quantity, quantity_interval
from tare.foreign import one_line
from tare.records import Activity, ActivityEstimate, ActivitySplit, ActivitySummary, Analysis, Cell, Estimate
from tare.report.arrange import place
from tare.report.page import MISSING, PageSection, section
from tare.report.shape import EstimateShape, JsonShape, Number, Seconds, SummaryShape, key

TITLE = "Where the time goes"
EXPLANATION = (
    "What the ranks of a profiled program do between MPI_Init and MPI_Finalize, as the mean over the ranks; figures "
    "are medians over blocks, so their shares may add up to slightly more or less than 100 %"
)
AGAINST = "Comparisons with native are only a hint here, as for any metric that is not primary"
NAMES = {
    Activity.INIT: "init",
    Activity.COMPUTE: "compute",
    Activity.COMMUNICATION: "communication",
    Activity.IO: "I/O",
}
WHOLE = "all"
LOOKS = {
    Activity.INIT: MarkStyle("square", "var(--control)"),
    Activity.COMPUTE: MarkStyle("square", "var(--e0)"),
    Activity.COMMUNICATION: MarkStyle("square", "var(--e1)"),
    Activity.IO: MarkStyle("square", "var(--e3)"),
}
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


def splits_by_cell(analysis: Analysis) -> dict[Cell, list[ActivitySplit]]:
    splits: dict[Cell, list[ActivitySplit]] = {}
    for split in analysis.activities:
        splits.setdefault(split.summary.cell, []).append(split)
    return splits


def told_activities(analysis: Analysis) -> tuple[Activity, ...]:
    """Those that took any time anywhere, in their order."""
    seen = {
        activity
        for split in analysis.activities
        for activity, times_s in split.summary.times_s.items()
        if any(times_s)
    }
    return tuple(activity for activity in Activity if activity in seen)


def unseen_said(analysis: Analysis) -> str:
    """Such as "No time at all went into I/O", empty where all took some."""
    reported = told_activities(analysis)
    names = [NAMES[activity] for activity in Activity if activity not in reported]
    return f"No time at all went into {' and '.join(names)}" if names else ""


def of(split: ActivitySplit, reported: Iterable[Activity]) -> list[ActivityEstimate]:
    """The activities to show, in their order."""
    shown = set(reported)
    return [estimate for estimate in split.activities if estimate.activity in shown]


def share_said(share: Estimate) -> str:
    return point_percent(share).removeprefix("+")


class ActivityShape(JsonShape):
    """An activity; one without any time is 0."""

    activity: Activity = key("what the ranks were doing; the objects are in this order")
    time_s: Seconds = key("median over blocks of its time, in the mean over the ranks")
    share: EstimateShape = key(
        "median over blocks of that time as a fraction of the whole. In each block the shares add up to 1; their "
        "medians do so except for the last digits"
    )
    overhead: EstimateShape | None = key(
        "of its time against native, as `typical` in the verdict on that metric; `null` for native, and where there is "
        "no such verdict"
    )


class TimesShape(JsonShape):
    """The times of one block."""

    block: int = key("its number")
    times_s: list[Number] = key("seconds of each activity, in order; for native the mean of its two slots")


class SplitShape(SummaryShape):
    """One object per cell and environment, native included, whose workload has `profile = true`.

    [npb.md](npb.md) shows an example, [profiler.md](profiler.md) defines the activities.
    """

    activities: list[ActivityShape] = key("one object for each activity")
    whole_s: Seconds = key("of all activities together, from MPI_Init to MPI_Finalize")
    blocks: list[TimesShape] = key("the values themselves", lambda of: _blocks(of.summary))


def _blocks(summary: ActivitySummary) -> list[TimesShape]:
    by_block = zip(*summary.times_s.values(), strict=True)
    return [
        TimesShape(block=block, times_s=times_s)
        for block, times_s in zip(summary.blocks, by_block, strict=True)
    ]


class ActivitiesJson(JsonShape):
    activities: list[SplitShape] = key(
        "where the time of profiled programs went; empty where nothing was profiled"
    )


def table(analysis: Analysis, console: Console, *, show_all: bool) -> None:  # noqa: ARG001 - as every topic's
    """Print a table per cell; nothing where nothing was profiled."""
    if not analysis.activities:
        return
    reported = told_activities(analysis)
    console.print(Text(f"\n{TITLE}", style="bold"))
    for sentence in filter(None, (EXPLANATION, AGAINST, unseen_said(analysis))):
        console.print(Text(f"{sentence}."))
    for cell, splits in splits_by_cell(analysis).items():
        console.print(Text(f"\n{place(cell)}", style="bold"))
        console.print(_cell_table(splits, reported), *_against_native(splits, reported), sep="\n")


def _cell_table(splits: Sequence[ActivitySplit], reported: Sequence[Activity]) -> Table:
    level = least_level(split.whole_s for split in splits)
    printed = ruled_table()
    add_name_column(printed, "", LEAST_NAME)
    for title in ("share", f"interval (≥ {level})", "time", "interval"):
        printed.add_column(title, justify="right", no_wrap=True)
    printed.add_column("n", justify="right", no_wrap=True, min_width=3)
    for split in splits:
        printed.add_row(Text.styled(name_cell(split.summary.environment, LEAST_NAME).plain, "bold"))
        for estimate in of(split, reported):
            shares = (share_said(estimate.share), interval_percent(estimate.share))
            printed.add_row(f"  {NAMES[estimate.activity]}", *shares, *_time(estimate.time_s))
        printed.add_row(f"  {WHOLE}", "", "", *_time(split.whole_s))
    return printed


def _time(time_s: Estimate) -> tuple[str, str, str]:
    return quantity(time_s.point, "s"), quantity_interval(time_s, "s"), str(time_s.n)


def _against_native(splits: Iterable[ActivitySplit], reported: Sequence[Activity]) -> Iterator[Text]:
    for split in splits:
        parts = [
            f"{NAMES[part.activity]} {point_percent(part.overhead)}, interval {interval_percent(part.overhead)}"
            for part in of(split, reported)
            if part.overhead
        ]
        if parts:
            name = one_line(split.summary.environment)
            yield Text(f" {name} against native: {'; '.join(parts)}", style="dim")


def html(analysis: Analysis, artist: Artist) -> Sequence[PageSection]:
    """All cells in one picture, and all figures."""
    if not analysis.activities:
        return [MISSING]
    cells, reported = splits_by_cell(analysis), told_activities(analysis)
    described = activities_described(cells, reported)
    shown = section(
        "activities",
        TITLE,
        title=TITLE,
        explanation=EXPLANATION,
        against=AGAINST,
        unseen=unseen_said(analysis),
        figure=artist.rows(lambda frame: activity_chart(cells, reported, frame), TITLE, described),
        key={NAMES[activity]: LOOKS[activity] for activity in reported},
        names=NAMES,
        whole=WHOLE,
        splits=analysis.activities,
        cells={cell: [(split, of(split, reported)) for split in splits] for cell, splits in cells.items()},
    )
    return [shown]


def activities_described(cells: Mapping[Cell, Sequence[ActivitySplit]], reported: Sequence[Activity]) -> str:
    """The picture in words, for those who hear the page."""
    return "; ".join(
        f"{one_line(split.summary.environment)}, {place(cell)}: "
        + ", ".join(
            f"{NAMES[estimate.activity]} {share_said(estimate.share)}" for estimate in of(split, reported)
        )
        + f", n = {split.whole_s.n}"
        for cell, splits in cells.items()
        for split in splits
    )


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
    cells: Mapping[Cell, Sequence[ActivitySplit]], reported: Sequence[Activity], frame: Frame
) -> Specification:
    """Describe the chart in Vega-Lite: for each environment a bar, below the heading of its cell.

    Each activity's interval is a line from the bar's own beginning, so it shows how long that part may be; the lines
    of one bar lie one below the other.
    """
    drawing = _Drawing()
    for cell, splits in cells.items():
        heading = {"y": drawing.height_px + 0.65 * frame.row_px, "text": place(cell), "ink": "var(--ink)"}
        drawing.headings.append(heading)
        drawing.height_px += 1.2 * frame.row_px
        top = drawing.height_px
        for split in splits:
            _add(split, reported, frame, drawing)
        drawing.spans.append((top, drawing.height_px))
    ends = (row["x2"] for row in (*drawing.bars, *drawing.whiskers))
    canvas = Canvas(Axis(low=0, high=max(1.0, *ends)), Axis(low=drawing.height_px, high=0), frame.font_px)
    _scales(canvas, drawing)
    canvas.bars(drawing.bars)
    canvas.lines([{**row, "stroke": "var(--paper)"} for row in drawing.whiskers], stroke_px=3.4)
    canvas.lines([{**row, "stroke": "var(--ink)"} for row in drawing.whiskers], stroke_px=1.4)
    _labels(canvas, drawing, reported, frame)
    head = frame.figures_px or drawing.height_px > TALL_PX
    padding = {"left": frame.gutter_px, "right": frame.figures_px or 22.0, "bottom": TICKS_PX}
    return canvas.specification(
        frame.plot_px, drawing.height_px, padding | {"top": TICKS_PX if head else 2.0}
    )


def _add(split: ActivitySplit, reported: Sequence[Activity], frame: Frame, drawing: _Drawing) -> None:
    summary, shown = split.summary, of(split, reported)
    middle, bar_px = drawing.height_px + frame.row_px / 2, _BAR * frame.row_px
    top, begin = middle - bar_px / 2, 0.0
    for lane, estimate in enumerate(shown):
        end, share = begin + estimate.share.point, estimate.share
        bar = {"x": begin, "x2": end, "y": top, "y2": top + bar_px, "fill": LOOKS[estimate.activity].colour}
        drawing.bars.append(bar | {"told": f"{one_line(summary.environment)}, {_told(estimate)}"})
        if share.low is not None and share.high is not None:
            y = top + (lane + 0.5) * bar_px / len(shown)
            drawing.whiskers.append({"x": begin + share.low, "x2": begin + share.high, "y": y, "y2": y})
        begin = end
    figures = {NAMES[estimate.activity]: share_said(estimate.share) for estimate in shown}
    drawing.rows.append(
        {"y": middle, "name": one_line(summary.environment), **figures, "n": str(split.whole_s.n)}
    )
    drawing.height_px += frame.row_px


def _told(part: ActivityEstimate) -> str:
    figures = f"{share_said(part.share)}, interval {interval_percent(part.share)}, {quantity(part.time_s.point, 's')}"
    return f"{NAMES[part.activity]}: {figures}, n = {part.share.n}"


def _scales(canvas: Canvas, drawing: _Drawing) -> None:
    lines = [
        {"x": tick, "x2": tick, "y": top, "y2": bottom, "stroke": "var(--grid)" if tick else "var(--axis)"}
        for top, bottom in drawing.spans
        for tick in _TICKS
    ]
    canvas.lines(lines)
    labels = [{"x": tick, "text": f"{100 * tick:.0f} %", "ink": "var(--soft)"} for tick in _TICKS]
    canvas.texts(labels, y_px=drawing.height_px + 13, align="center")
    if drawing.height_px > TALL_PX:
        canvas.texts(labels, y_px=-13, align="center")


def _labels(canvas: Canvas, drawing: _Drawing, reported: Sequence[Activity], frame: Frame) -> None:
    character_px = CHARACTER_EM * frame.font_px
    widest = int((frame.gutter_px + frame.plot_px + frame.figures_px) / character_px)
    headings = [{**row, "text": cut(row["text"], widest)} for row in drawing.headings]
    canvas.texts(headings, x_px=-frame.gutter_px, bold=True)
    longest = int((frame.gutter_px - 12) / character_px)
    _column(canvas, [{**row, "name": cut(row["name"], longest)} for row in drawing.rows], "name", -12.0)
    right_px = frame.plot_px
    columns = [*((NAMES[activity], _COLUMNS_PX[activity]) for activity in reported), ("n", _COUNT_PX)]
    for column, width_px in columns if frame.figures_px else ():
        right_px += width_px
        _column(canvas, drawing.rows, column, right_px)
        canvas.texts([{"text": column, "ink": "var(--soft)"}], x_px=right_px, y_px=-13, align="right")


def _column(canvas: Canvas, rows: Sequence[Row], name: str, right_px: float) -> None:
    texts = [{"y": row["y"], "text": row[name], "ink": "var(--ink)"} for row in rows]
    canvas.texts(texts, x_px=right_px, align="right")
