# SPDX-License-Identifier: Apache-2.0
"""What stands on the page, section by section, ready for the template, which only sets it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tare.drawing.artist import Artist, Figure
from tare.drawing.marks import CONTROL, MarkStyle
from tare.drawing.words import interval_percent, point_percent
from tare.foreign import one_line
from tare.records import Analysis, Cell
from tare.report import arrange, surface_chart, surfaces
from tare.report.arrange import MetricSection
from tare.report.curve_chart import NARROW, WIDE, curve_chart, ratios
from tare.report.curves import (
    POINTWISE,
    UNITS,
    CurveMetric,
    curve_metrics,
    curve_sentences,
    curves_described,
    level,
    place_groups,
)
from tare.report.overhead_chart import HeadedMetric, answer_chart, extent, overhead_chart
from tare.report.samples_chart import ground, samples_chart
from tare.report.surfaces import SurfaceMetric, sentences, surface_metrics
from tare.treat import InstanceFigure, per_instance

_MOST_FAR_ROWS = 24
_CLOSE_ROW_PX, _CLOSE_FONT_PX = 17.0, 12.0
"""Of a picture with more rows than that."""

CURVE_WORDS: Mapping[str, Any] = {
    "curves_explained": f"{POINTWISE}. {UNITS}",
    "curve_level": level,
    "place_groups": place_groups,
    "curve_sentences": curve_sentences,
    "surface_rows": surfaces.rows,
    "surfaces_explained": surfaces.EXPLAINED,
    "native_look": CONTROL,
}
"""What the templates of curves and surfaces print and ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A small picture under a title; ``look`` is of the environment it shows, if one."""

    title: str
    unit: str
    picture: str
    from_zero: bool
    """Whether 0 is on its value axis."""
    look: MarkStyle | None = None


@dataclass(frozen=True, slots=True)
class CurveFigure:
    """One metric's curves, with the ratio to native below."""

    metric: CurveMetric
    figure: Figure


@dataclass(frozen=True, slots=True)
class SurfaceFigure:
    """One metric's maps."""

    metric: SurfaceMetric
    figure: Figure
    sentences: tuple[str, ...]
    full: str
    """Ratio whose colour is full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSection:
    anchor: str
    cell: Cell
    note: str
    metrics: tuple[MetricSection, ...]
    decided: Figure | None
    """The metrics beside the primary one on which some environment is decided."""
    undecided: Figure | None
    undecided_count: int
    primary_panels: tuple[Panel, ...]
    other_panels: tuple[Panel, ...]
    curves: tuple[CurveFigure, ...]
    surfaces: tuple[SurfaceFigure, ...]
    instances: tuple[InstanceFigure, ...]
    takes_turns: bool
    """Whether the arms of a block alternated in short slices."""


def _overheads(artist: Artist, groups: Sequence[HeadedMetric], title: str) -> Figure:
    return artist.overheads(
        lambda axis, frame: overhead_chart(groups, artist.looks, axis, artist.margin, frame),
        extent(group.metric for group in groups),
        title,
        _described(groups),
    )


def _answer(artist: Artist, groups: Sequence[HeadedMetric], title: str) -> Figure:
    """Draw all environments by all primary metrics; the more rows, the closer they stand."""
    rows = sum(len(group.metric.overheads) for group in groups)
    closer = {"row_px": _CLOSE_ROW_PX, "font_px": _CLOSE_FONT_PX} if rows > _MOST_FAR_ROWS else {}
    return artist.overheads(
        lambda axis, frame: answer_chart(groups, artist.looks, axis, artist.margin, replace(frame, **closer)),
        extent(group.metric for group in groups),
        title,
        _described(groups),
    )


def curve_figure(artist: Artist, metric: CurveMetric) -> CurveFigure:
    """Draw one metric's curves."""
    title = f"{one_line(metric.name)}, {arrange.place(metric.cell)}"
    charts = [curve_chart(metric, artist.looks, artist.margin, frame) for frame in (WIDE, NARROW)]
    ratio_axis = ratios(metric, artist.margin, WIDE)
    logarithmic = ratio_axis is not None and ratio_axis.constant is not None
    figure = artist.figure(charts, title, curves_described(metric))
    return CurveFigure(metric, replace(figure, logarithmic=logarithmic))


def surface_figure(artist: Artist, metric: SurfaceMetric) -> SurfaceFigure:
    """Draw one metric's maps; it has an environment beside native."""
    title = f"{metric.name}, {arrange.place(metric.cell)}"
    frames = (surface_chart.WIDE, surface_chart.NARROW)
    charts = [surface_chart.surface_chart(metric, frame) for frame in frames]
    said = sentences(metric)
    full = f"{math.exp(surface_chart.fullest(metric)):.3g}"
    return SurfaceFigure(metric, artist.figure(charts, title, "; ".join(said)), said, full)


def _samples(artist: Artist, metric: MetricSection, *, named: bool = False) -> Iterable[Panel]:
    """Draw one panel per environment for a primary metric, for another one panel with all of them.

    ``named``: a primary metric's panels say which it is, as there are several.
    """
    summaries = [verdict.overhead.summary for verdict in metric.verdicts]
    shared = ground(summaries)
    if shared is None:
        return
    for own in [[summary] for summary in summaries] if metric.primary else [summaries]:
        name = one_line(own[0].environment if metric.primary else metric.name)
        in_unit = f" in {shared.unit}" if shared.unit else ""
        title = f"{one_line(metric.name)}{in_unit}, samples block by block: {name}"
        described = (
            f"{len(shared.blocks)} blocks, in {shared.unit}; the figures are in the table of all figures"
        )
        chart = samples_chart(own, summaries, artist.looks, shared)
        yield Panel(
            title=f"{name}, {one_line(metric.name)}" if named and metric.primary else name,
            unit=shared.unit,
            picture=artist.picture(chart, title, described, "panel"),
            from_zero=shared.axis.low <= 0 <= shared.axis.high,
            look=artist.looks[own[0].environment] if metric.primary else None,
        )


def _described(groups: Iterable[HeadedMetric]) -> str:
    """The picture in words, for those who hear the page."""
    return "; ".join(
        f"{one_line(overhead.summary.environment)}, {one_line(group.heading)}: {point_percent(estimate)},"
        f" interval {interval_percent(estimate)}, n = {estimate.n}"
        for group in groups
        for overhead, estimate in group.metric.shown
    )


def headline(artist: Artist, analysis: Analysis) -> Figure | None:
    """Every environment by every primary metric in one picture."""
    primary = arrange.primaries(analysis)
    if not primary:
        return None
    several = len({metric.cell.layout for _, metric in primary}) > 1
    groups = [
        HeadedMetric(metric, f"{name}{f' on {metric.cell.layout}' if several else ''}{metric.as_time}")
        for name, metric in primary
    ]
    return _answer(artist, groups, "Overhead of every environment by primary metric")


def cell_sections(artist: Artist, analysis: Analysis) -> tuple[CellSection, ...]:
    metrics, instances = arrange.metrics(analysis), per_instance(analysis.outcomes)
    curves, maps = curve_metrics(analysis), surface_metrics(analysis)
    return tuple(
        _section(
            artist,
            number,
            cell,
            tuple(metric for metric in metrics if metric.cell == cell),
            tuple(figure for figure in instances if figure.cell == cell),
            tuple(metric for metric in curves if metric.cell == cell),
            tuple(metric for metric in maps if metric.cell == cell and metric.environments),
        )
        for number, cell in enumerate(arrange.cells(analysis), start=1)
    )


def _section(
    artist: Artist,
    number: int,
    cell: Cell,
    metrics: tuple[MetricSection, ...],
    instances: tuple[InstanceFigure, ...],
    curves: tuple[CurveMetric, ...],
    maps: tuple[SurfaceMetric, ...],
) -> CellSection:
    primary = [metric for metric in metrics if metric.primary]
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
        undecided_count=len(undecided),
        primary_panels=tuple(
            panel for metric in primary for panel in _samples(artist, metric, named=len(primary) > 1)
        ),
        other_panels=tuple(panel for metric in others for panel in _samples(artist, metric)),
        curves=tuple(curve_figure(artist, metric) for metric in curves),
        surfaces=tuple(surface_figure(artist, metric) for metric in maps),
        instances=instances,
        takes_turns=any(
            block.rounds is not None for metric in primary for block in metric.reference.summary.blocks
        ),
    )


def _groups(artist: Artist, metrics: Sequence[MetricSection], title: str) -> Figure | None:
    if not metrics:
        return None
    return _overheads(
        artist, [HeadedMetric(metric, f"{metric.name}{metric.as_time}") for metric in metrics], title
    )
