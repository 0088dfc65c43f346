# SPDX-License-Identifier: Apache-2.0
"""The overhead chart as rows of places in per cent of its width: a browser draws, and computes nothing."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tare.analyze.qualification import word_said
from tare.drawing.axis import Axis, overhead_axis
from tare.drawing.marks import CONTROL, MarkStyle
from tare.drawing.words import MARK, interval_percent, point_percent
from tare.records import Estimate, Overhead, Summary, Verdict, Word
from tare.report import arrange
from tare.report.arrange import MetricSection
from tare.report.overhead_chart import extent
from tare.serve.book import Book
from tare.serve.choice import ViewChoice, point_name
from tare.statistics.estimate import LEVEL

ROWS = 100
"""Points on one page."""
_WIDTH_PX = 380.0
"""Of the plot where there is room: ticks must not touch there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartPoint:
    """One row: a dot with its interval; places are in per cent of the plot's width."""

    name: str
    """In addresses; empty for native against native."""
    label: str
    look: MarkStyle
    word: Word | None
    said: str
    figure: str
    interval: str
    n: int
    at: float
    low: float | None
    high: float | None
    block_at: float | None
    """The chosen block's own overhead."""
    block_said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartGroup:
    """The rows of one metric in one cell."""

    heading: str
    where: str
    primary: bool
    points: tuple[ChartPoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartPage:
    """A page of the chart."""

    groups: tuple[ChartGroup, ...]
    ticks: tuple[tuple[float, str], ...]
    zero: float
    band: tuple[float, float]
    """The margin."""
    logarithmic: bool
    shown: int
    fitting: int
    """Points that the filters leave in, on all pages."""
    every: int
    pages: int


def chart(book: Book, choice: ViewChoice) -> ChartPage:
    """The points that the filters leave in, on one axis."""
    wanted = [
        (section, verdict)
        for section in book.metrics
        for verdict in section.verdicts
        if choice.wants(verdict.overhead.summary)
    ]
    pages = max(1, math.ceil(len(wanted) / ROWS))
    first = (min(choice.page, pages) - 1) * ROWS
    shown = _together(wanted[first : first + ROWS])
    room = (*extent(shown), *_beyond(shown, choice.block))
    axis = overhead_axis(room, book.analysis.margin, _WIDTH_PX)
    own = book.looks
    return ChartPage(
        groups=tuple(_group(section, axis, own, choice.block) for section in shown),
        ticks=tuple(
            (_percent(axis, tick), label) for tick, label in zip(axis.ticks, axis.labels, strict=True)
        ),
        zero=_percent(axis, 0),
        band=(_percent(axis, -book.analysis.margin), _percent(axis, book.analysis.margin)),
        logarithmic=axis.constant is not None,
        shown=sum(len(section.verdicts) for section in shown),
        fitting=len(wanted),
        every=len(book.analysis.verdicts),
        pages=pages,
    )


def _beyond(sections: Sequence[MetricSection], block: int | None) -> Iterator[float]:
    """What the explorer draws and a report does not: native again as a row, and single blocks."""
    for section in sections:
        overheads = [verdict.overhead for verdict in section.verdicts]
        if section.control:
            overheads.append(section.control)
            typical = section.control.typical
            yield from (each for each in (typical.point, typical.low, typical.high) if each is not None)
        if block is not None:
            own = (block_overhead(overhead.summary, block) for overhead in overheads)
            yield from (each for each in own if each is not None)


def _together(pairs: Sequence[tuple[MetricSection, Verdict]]) -> list[MetricSection]:
    """Sections with only these of their verdicts."""
    kept: dict[int, tuple[MetricSection, list[Verdict]]] = {}
    for section, verdict in pairs:
        kept.setdefault(id(section), (section, []))[1].append(verdict)
    return [
        MetricSection(cell=section.cell, name=section.name, verdicts=tuple(verdicts), control=section.control)
        for section, verdicts in kept.values()
    ]


def _group(section: MetricSection, axis: Axis, own: Mapping[str, MarkStyle], block: int | None) -> ChartGroup:
    return ChartGroup(
        heading=section.name,
        where=arrange.place(section.cell),
        primary=section.primary,
        points=tuple(_points(section, axis, own, block)),
    )


def _points(
    section: MetricSection, axis: Axis, own: Mapping[str, MarkStyle], block: int | None
) -> Iterator[ChartPoint]:
    for verdict in section.verdicts:
        look = own[verdict.overhead.summary.environment]
        said = f"{MARK[verdict.word]} {word_said(verdict)}"
        yield _point(verdict.overhead, verdict.shown, axis, look, verdict.word, said, block)
    if section.control:
        said = arrange.control_word(section.control)
        yield _point(section.control, section.control.typical, axis, CONTROL, None, said, block)


def _point(
    overhead: Overhead,
    shown: Estimate,
    axis: Axis,
    look: MarkStyle,
    word: Word | None,
    said: str,
    block: int | None,
) -> ChartPoint:
    summary = overhead.summary
    of_block = None if block is None else block_overhead(summary, block)
    return ChartPoint(
        name="" if word is None else point_name(summary),
        label=summary.environment,
        look=look,
        word=word,
        said=said,
        figure=point_percent(shown),
        interval=interval_percent(shown),
        n=shown.n,
        at=_percent(axis, shown.point),
        low=None if shown.low is None else _percent(axis, shown.low),
        high=None if shown.high is None else _percent(axis, shown.high),
        block_at=None if of_block is None else _percent(axis, of_block),
        block_said="" if block is None else block_said(of_block),
    )


def block_overhead(summary: Summary, block: int) -> float | None:
    """One block's own overhead, as a fraction; ``None`` where the block is not complete."""
    for value, log_ratio in zip(summary.blocks, summary.log_ratios, strict=True):
        if value.block == block:
            return math.expm1(log_ratio)
    return None


def block_said(overhead: float | None) -> str:
    """The block's own overhead in words: one value, which has no interval."""
    if overhead is None:
        return "not complete in this block"
    return point_percent(Estimate(point=overhead, low=None, high=None, level=LEVEL, n=1))


def _percent(axis: Axis, value: float) -> float:
    """Within the plot: what lies beyond its ends is drawn at the end."""
    if not math.isfinite(value):
        return 0.0
    return round(100 * min(1.0, max(0.0, axis.position(value))), 2)
