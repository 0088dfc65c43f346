# SPDX-License-Identifier: Apache-2.0
"""What an environment costs at each level of a factor: for programs, for a terminal, for the page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.artist import Artist, Figure, Specification
from tare.drawing.axis import Axis
from tare.drawing.interval_chart import Frame, Section, interval_chart, interval_row
from tare.drawing.marks import MarkStyle
from tare.drawing.table import add_name_column, name_cell, name_width, ruled_table
from tare.drawing.words import NO_VALUE, counted, interval_percent, point_percent
from tare.foreign import one_line
from tare.records import Analysis, Dependence, DependenceWord, Direction, FactorCells, LevelOverhead, Withheld
from tare.report.page import MISSING, PageSection, section
from tare.report.shape import ByName, EstimateShape, JsonShape, Number, key

TITLE = "Does the overhead depend on what was varied?"
EXPLANATION = (
    "Typical overhead (robust mean) against native at the same level, and how much more time than at the first level, "
    "both in the blocks that all levels have; each interval holds for all levels together"
)
_FIGURES_WIDTH = 66
"""What all but the names take in the table."""
_STYLE = {DependenceWord.DEPENDS: "red", DependenceWord.NOT_SHOWN: "green", DependenceWord.UNKNOWN: "dim"}


@dataclass(frozen=True, slots=True, kw_only=True)
class VariedMetric:
    """One metric over one factor: every environment that the factor concerns."""

    cells: FactorCells
    dependences: tuple[Dependence, ...]

    @property
    def title(self) -> str:
        """Such as "burn on 1c1p1i by memory, wall_s"."""
        where = f" on {one_line(self.cells.setting)}" if self.cells.setting else ""
        metric = one_line(self.dependences[0].metric)
        return f"{one_line(self.cells.workload)}{where} by {one_line(self.cells.key)}, {metric}"

    @property
    def primary(self) -> bool:
        return self.dependences[0].primary

    @property
    def has_curve(self) -> bool:
        """Whether the levels are numbers within a layout, of whose section they are the curve."""
        return not self.cells.in_layouts and all(level.number is not None for level in self.cells.levels)


def varied_metrics(analysis: Analysis) -> tuple[VariedMetric, ...]:
    """Factor after factor, in each the metrics in the order of the analysis."""
    groups: dict[tuple[str, str, str, str, str], list[Dependence]] = {}
    for each in analysis.dependences:
        own = each.cells
        place = (own.workload, own.setting, own.key, each.metric, each.unit)
        groups.setdefault(place, []).append(each)
    return tuple(VariedMetric(cells=group[0].cells, dependences=tuple(group)) for group in groups.values())


class LevelShape(JsonShape):
    """One level of a factor."""

    level: str = key("as the campaign writes it", "level.text")
    number: Number = key("as a number; `null` where the levels are names", "level.number")
    unit: str | None = key('such as `"B"` or `"s"`; `null`: a count, or no number', "level.unit")
    overhead: EstimateShape = key(
        "robust mean of the overhead against native at this level, with an interval that holds for all levels together"
    )
    beyond_first: EstimateShape | None = key(
        "how much more time than at the first level, each against native at its level; `null` for the first"
    )


class DependenceShape(JsonShape):
    """One object per factor, environment and metric ([factors.md](factors.md))."""

    factor: str = key("the key that varies", "cells.key")
    workload: str = key("the workload's name", "cells.workload")
    setting: str = key(
        "what all levels share, such as the layout; empty where the layout varies", "cells.setting"
    )
    environment: str = key("as in a verdict")
    metric: str = key("as in a verdict")
    direction: ByName[Direction] = key("as in a verdict")
    primary: bool = key("as in a verdict")
    word: ByName[DependenceWord] = key("the verdict")
    withheld: Withheld | None = key("as in a verdict, of any level")
    sentence: str = key("the verdict in words")
    p: Number = key('p-value of "the same at all levels"; `null` with fewer than six blocks')
    adjusted_p: Number = key("the same among all dependences of its family")
    blocks: int = key("how many are complete at all levels", "n")
    levels: list[LevelShape] = key("in the campaign's order; empty without a block")


class FactorsJson(JsonShape):
    dependences: list[DependenceShape] = key("whether overheads depend on a factor; empty without one")


def table(analysis: Analysis, console: Console, *, show_all: bool) -> None:
    """Print the levels by primary metrics, with ``show_all`` by all; nothing without a factor."""
    metrics = varied_metrics(analysis)
    if not metrics:
        return
    console.print(Text(f"\n{TITLE}", style="bold"))
    console.print(Text(f"{EXPLANATION}."))
    shown = [metric for metric in metrics if show_all or metric.primary]
    for metric in shown:
        console.print(Text(f"\n{metric.title}", style="bold"))
        console.print(_levels(metric, console.width))
        for each in metric.dependences:
            console.print(Text(one_line(each.sentence), style=_STYLE[each.word]))
    if hidden := len(metrics) - len(shown):
        hint = f"the levels by {counted(hidden, 'other metric')} hidden; --all shows every row"
        console.print(Text(f"\n{hint}", style="dim"))


def _levels(metric: VariedMetric, console_width: int) -> Table:
    names = [
        *(each.environment for each in metric.dependences),
        *(level.text for level in metric.cells.levels),
    ]
    width = name_width(names, console_width - _FIGURES_WIDTH)
    printed = ruled_table()
    add_name_column(printed, one_line(metric.cells.key), width)
    for title in ("overhead", "interval", "beyond first", "interval"):
        printed.add_column(title, justify="right", no_wrap=True)
    for each in metric.dependences:
        printed.add_row(Text(name_cell(each.environment, width).plain, style="bold"))
        for level in each.levels:
            printed.add_row(name_cell(level.level.text, width), *_figures(level))
    return printed


def _figures(level: LevelOverhead) -> Iterator[str]:
    for estimate in (level.overhead, level.beyond_first):
        yield point_percent(estimate) if estimate else NO_VALUE
        yield interval_percent(estimate) if estimate else NO_VALUE


def html(analysis: Analysis, artist: Artist) -> Sequence[PageSection]:
    """The verdicts, a picture of each factor whose levels are names, and all figures."""
    metrics = varied_metrics(analysis)
    if not metrics:
        return [MISSING]
    drawn = [(metric, _figure(metric, artist)) for metric in metrics if metric.primary]
    shown = section(
        "factors",
        "Factors",
        title=TITLE,
        explanation=EXPLANATION,
        drawn=drawn,
        others=[metric for metric in metrics if not metric.primary],
    )
    return [shown]


def _figure(metric: VariedMetric, artist: Artist) -> Figure | None:
    levels = [level for each in metric.dependences for level in each.levels]
    if metric.has_curve or not levels:
        return None
    return artist.overheads(
        lambda axis, frame: factor_chart(metric, artist.looks, axis, artist.margin, frame),
        list(_extent(levels)),
        metric.title,
        _described(metric),
    )


def _extent(levels: Iterable[LevelOverhead]) -> Iterator[float]:
    for own in (level.overhead for level in levels):
        yield from (value for value in (own.point, own.low, own.high) if value is not None)


def _described(metric: VariedMetric) -> str:
    """The picture in words, for those who hear the page."""
    return "; ".join(
        f"{one_line(each.environment)} at {one_line(level.level.text)}: {point_percent(level.overhead)}, "
        f"interval {interval_percent(level.overhead)}, n = {level.overhead.n}"
        for each in metric.dependences
        for level in each.levels
    )


def factor_chart(
    metric: VariedMetric, looks: Mapping[str, MarkStyle], axis: Axis, margin: float, frame: Frame
) -> Specification:
    """Describe the chart in Vega-Lite: below each environment's name a row for each level."""
    sections = [
        Section(
            heading=one_line(each.environment),
            rows=[
                interval_row(
                    level.level.text,
                    metric.title,
                    level.overhead,
                    "",
                    looks[each.environment],
                    decided=each.word is DependenceWord.DEPENDS,
                )
                for level in each.levels
            ],
        )
        for each in metric.dependences
    ]
    return interval_chart(sections, axis, margin, frame)
