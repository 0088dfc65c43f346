# SPDX-License-Identifier: Apache-2.0
"""What stands on the page, section by section, ready for the template, which only sets it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tare.drawing.axis import Axis, overhead_axis
from tare.drawing.interval_chart import CHARACTER_EM, Frame
from tare.drawing.marks import Look, looks
from tare.drawing.svg import Picture, render
from tare.drawing.words import interval_percent, point_percent
from tare.foreign import one_line
from tare.records import Analysis, Cell
from tare.report import activities, arrange
from tare.report.activity_chart import activity_chart
from tare.report.arrange import Metric, SharedMetric
from tare.report.curve_chart import NARROW, WIDE, curve_chart, ratios
from tare.report.curves import CurveMetric, curve_metrics, curves_described
from tare.report.overhead_chart import Group, answer_chart, extent, overhead_chart
from tare.report.samples_chart import ground, samples_chart
from tare.report.sharing_chart import loss_extent, losses_described, sharing_chart
from tare.treat import InstanceFigure, per_instance

_WIDE = Frame(plot_px=590, gutter_px=0, figures_px=370, row_px=21, font_px=13)
_NARROW = Frame(plot_px=350, gutter_px=0, figures_px=0, row_px=21, font_px=12.5)
_MOST_FAR_ROWS = 24
_CLOSE_ROW_PX, _CLOSE_FONT_PX = 17.0, 12.0
"""Of a picture with more rows than that."""
_LONGEST_GUTTER_PX = {"wide": 230.0, "narrow": 136.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One picture, drawn for a wide and for a narrow page."""

    wide: str
    narrow: str
    logarithmic: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A small picture under a title; ``look`` is of the environment it shows, if one."""

    title: str
    unit: str
    picture: str
    look: Look | None = None


@dataclass(frozen=True, slots=True)
class CurveFigure:
    """One metric's curves, with the ratio to native below."""

    metric: CurveMetric
    figure: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSection:
    anchor: str
    cell: Cell
    note: str
    metrics: tuple[Metric, ...]
    decided: Figure | None
    """The metrics beside the primary one on which some environment is decided."""
    undecided: Figure | None
    decided_count: int
    undecided_count: int
    primary_panels: tuple[Panel, ...]
    other_panels: tuple[Panel, ...]
    curves: tuple[CurveFigure, ...]
    instances: tuple[InstanceFigure, ...]


class Artist:
    """Draws an analysis's pictures; each gets an identity of its own."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.looks = looks(arrange.environments(analysis))
        self._drawn = 0

    def overheads(self, groups: Sequence[Group], title: str) -> Figure:
        margin = self._analysis.margin
        return self._figure(
            lambda axis, frame: overhead_chart(groups, self.looks, axis, margin, frame),
            list(extent(group.metric for group in groups)),
            title,
            _described(groups),
        )

    def answer(self, groups: Sequence[Group], title: str) -> Figure:
        """Draw all environments by all primary metrics; the more rows, the closer they stand."""
        margin, rows = self._analysis.margin, sum(len(group.metric.overheads) for group in groups)
        closer = {"row_px": _CLOSE_ROW_PX, "font_px": _CLOSE_FONT_PX} if rows > _MOST_FAR_ROWS else {}
        return self._figure(
            lambda axis, frame: answer_chart(groups, self.looks, axis, margin, replace(frame, **closer)),
            list(extent(group.metric for group in groups)),
            title,
            _described(groups),
        )

    def sharing(self, metrics: Sequence[SharedMetric], title: str) -> Figure:
        margin = self._analysis.margin
        return self._figure(
            lambda axis, frame: sharing_chart(metrics, self.looks, axis, margin, frame),
            list(loss_extent(metrics)),
            title,
            losses_described(metrics),
        )

    def _figure(
        self, describe: Callable[[Axis, Frame], dict[str, Any]], values: list[float], title: str, told: str
    ) -> Figure:
        """Draw a chart of overheads that needs room for ``values``."""
        pictures = {}
        for width, whole in (("wide", _WIDE), ("narrow", _NARROW)):
            frame = _with_gutter(whole, self.looks, _LONGEST_GUTTER_PX[width])
            axis = overhead_axis(values, self._analysis.margin, frame.plot_px)
            pictures[width] = render(describe(axis, frame), self._picture(title, told, width))
        return Figure(wide=pictures["wide"], narrow=pictures["narrow"], logarithmic=axis.constant is not None)

    def activities(self, analysis: Analysis) -> Figure:
        cells, told = activities.splits_by_cell(analysis), activities.told_activities(analysis)
        described, pictures = activities.activities_described(cells, told), {}
        for width, whole in (("wide", _WIDE), ("narrow", _NARROW)):
            frame = _with_gutter(whole, self.looks, _LONGEST_GUTTER_PX[width])
            picture = self._picture(activities.TITLE, described, width)
            pictures[width] = render(activity_chart(cells, told, frame), picture)
        return Figure(**pictures, logarithmic=False)

    def curves(self, metric: CurveMetric) -> CurveFigure:
        margin, title = self._analysis.margin, f"{one_line(metric.name)}, {arrange.place(metric.cell)}"
        pictures = {
            classes: render(
                curve_chart(metric, self.looks, margin, frame),
                self._picture(title, curves_described(metric), classes),
            )
            for classes, frame in (("wide", WIDE), ("narrow", NARROW))
        }
        ratio_axis = ratios(metric, margin, WIDE)
        logarithmic = ratio_axis is not None and ratio_axis.constant is not None
        return CurveFigure(metric, Figure(**pictures, logarithmic=logarithmic))

    def samples(self, metric: Metric) -> Iterable[Panel]:
        """Draw one panel per environment for a primary metric, for another one panel with all of them."""
        summaries = [verdict.overhead.summary for verdict in metric.verdicts]
        shared = ground(summaries)
        if shared is None:
            return
        for own in [[summary] for summary in summaries] if metric.primary else [summaries]:
            name = one_line(own[0].environment if metric.primary else metric.name)
            title = f"{one_line(metric.name)}, samples block by block: {name}"
            described = (
                f"{len(shared.blocks)} blocks, in {shared.unit}; the figures are in the table of all figures"
            )
            specification = samples_chart(own, summaries, self.looks, shared)
            yield Panel(
                title=name,
                unit=shared.unit,
                picture=render(specification, self._picture(title, described, "panel")),
                look=self.looks[own[0].environment] if metric.primary else None,
            )

    def _picture(self, title: str, description: str, classes: str) -> Picture:
        self._drawn += 1
        return Picture(
            identity=f"picture{self._drawn}", title=title, description=description, classes=classes
        )


def _with_gutter(whole: Frame, names: Iterable[str], longest_px: float) -> Frame:
    """Give the names the room they need, up to a limit, at the plot's cost."""
    longest = max((len(name) for name in (*names, arrange.CONTROL)), default=0)
    gutter_px = min(longest * CHARACTER_EM * whole.font_px + 14, longest_px)
    return replace(whole, gutter_px=gutter_px, plot_px=whole.plot_px - gutter_px)


def _described(groups: Iterable[Group]) -> str:
    """The picture in words, for those who hear the page."""
    return "; ".join(
        f"{one_line(overhead.summary.environment)}, {one_line(group.heading)}: {point_percent(overhead.typical)},"
        f" interval {interval_percent(overhead.typical)}, n = {overhead.typical.n}"
        for group in groups
        for overhead in group.metric.overheads
    )


def headline(artist: Artist, analysis: Analysis) -> Figure | None:
    """Every environment by every primary metric in one picture."""
    primary = arrange.primaries(analysis)
    if not primary:
        return None
    several = len({metric.cell.layout for _, metric in primary}) > 1
    groups = [
        Group(metric, f"{name} on {metric.cell.layout}" if several else name) for name, metric in primary
    ]
    return artist.answer(groups, "Overhead of every environment by primary metric")


def sharing_figure(artist: Artist, metrics: Sequence[SharedMetric]) -> Figure | None:
    """The primary metric of every cell with company in one picture."""
    primary = [metric for metric in metrics if metric.primary]
    return artist.sharing(primary, "Loss by company, primary metrics") if primary else None


def activities_figure(artist: Artist, analysis: Analysis) -> Figure | None:
    """All cells in one picture; ``None`` where nothing was profiled."""
    return artist.activities(analysis) if analysis.activities else None


def cell_sections(artist: Artist, analysis: Analysis) -> tuple[CellSection, ...]:
    metrics, instances = arrange.metrics(analysis), per_instance(analysis.outcomes)
    curves = curve_metrics(analysis)
    return tuple(
        _section(
            artist,
            number,
            cell,
            tuple(metric for metric in metrics if metric.cell == cell),
            tuple(figure for figure in instances if figure.cell == cell),
            tuple(metric for metric in curves if metric.cell == cell),
        )
        for number, cell in enumerate(arrange.cells(analysis), start=1)
    )


def _section(
    artist: Artist,
    number: int,
    cell: Cell,
    metrics: tuple[Metric, ...],
    instances: tuple[InstanceFigure, ...],
    curves: tuple[CurveMetric, ...],
) -> CellSection:
    others = [metric for metric in metrics if not metric.primary]
    decided = [metric for metric in others if metric.decided]
    undecided = [metric for metric in others if not metric.decided]
    where = arrange.place(cell)
    return CellSection(
        anchor=f"cell{number}",
        cell=cell,
        note=arrange.instances_note(cell),
        metrics=metrics,
        decided=_groups(artist, decided, f"Overhead by metric, {where}"),
        undecided=_groups(artist, undecided, f"Overhead by undecided metric, {where}"),
        decided_count=len(decided),
        undecided_count=len(undecided),
        primary_panels=tuple(
            panel for metric in metrics if metric.primary for panel in artist.samples(metric)
        ),
        other_panels=tuple(panel for metric in others for panel in artist.samples(metric)),
        curves=tuple(artist.curves(metric) for metric in curves),
        instances=instances,
    )


def _groups(artist: Artist, metrics: Sequence[Metric], title: str) -> Figure | None:
    if not metrics:
        return None
    return artist.overheads([Group(metric, metric.name) for metric in metrics], title)
