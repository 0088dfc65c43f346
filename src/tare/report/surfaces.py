# SPDX-License-Identifier: Apache-2.0
"""Surfaces: one metric over two dimensions, as a map of overheads and as tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.table import ruled_table
from tare.drawing.words import NO_VALUE, counted, point_percent
from tare.foreign import one_line
from tare.records import NATIVE, Analysis, Cell, CurveEstimate, Dimension, PointEstimate
from tare.report.dimensions import projected
from tare.report.places import place_label
from tare.report.together import decided, together_said

EXPLAINED = "Slower or faster: shown with all places of the surface in mind; every other place is undecided"
_COLUMN, _ROW = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceMetric:
    """One metric of one cell: the surfaces of all environments, native first."""

    cell: Cell
    surfaces: tuple[CurveEstimate, ...]

    @property
    def name(self) -> str:
        return one_line(self.surfaces[0].curve.metric)

    @property
    def better(self) -> str:
        return str(self.surfaces[0].curve.direction)

    @property
    def environments(self) -> tuple[CurveEstimate, ...]:
        """All surfaces but native's."""
        return tuple(surface for surface in self.surfaces if surface.curve.environment != NATIVE)

    @property
    def across(self) -> tuple[float, ...]:
        """The places of the first dimension, rising."""
        return self._places(_COLUMN)

    @property
    def down(self) -> tuple[float, ...]:
        """The places of the second dimension, rising."""
        return self._places(_ROW)

    @property
    def dimensions(self) -> tuple[Dimension, Dimension]:
        first, second = self.surfaces[0].curve.dimensions
        return first, second

    def labels(self, number: int) -> tuple[str, ...]:
        """Those of the first or the second dimension's places, without its name."""
        places = (self.across, self.down)[number]
        return tuple(
            one_line(place_label(place, self.dimensions[number])).rpartition(" = ")[2] for place in places
        )

    @property
    def said(self) -> str:
        """``"169 places, size by record"``."""
        first, second = (one_line(each.name) for each in self.dimensions)
        places = {point.at for each in self.surfaces for point in each.points}
        return f"{counted(len(places), 'place')}, {first} by {second}"

    def _places(self, number: int) -> tuple[float, ...]:
        return tuple(sorted({point.at[number] for surface in self.surfaces for point in surface.points}))


def surface_metrics(analysis: Analysis) -> tuple[SurfaceMetric, ...]:
    """Cell after cell, each metric's surfaces together."""
    return tuple(
        SurfaceMetric(cell=surfaces[0].curve.cell, surfaces=surfaces)
        for surfaces in projected(analysis.curves)
        if len(surfaces[0].curve.dimensions) > 1
    )


def sentences(metric: SurfaceMetric) -> tuple[str, ...]:
    """What each environment's surface shows as a whole; without a band that there are too few blocks."""
    return tuple(
        together_said(surface) or f"{one_line(surface.curve.environment)}: too few blocks to decide any place"
        for surface in metric.environments
    )


@dataclass(frozen=True, slots=True)
class MapEntry:
    """One place of a table."""

    text: str
    word: str
    """``slower``, ``faster`` or ``undecided``, as the style sheet names them; empty without a value."""


def rows(metric: SurfaceMetric, surface: CurveEstimate) -> tuple[tuple[str, tuple[MapEntry, ...]], ...]:
    """One environment's overheads as a table: a label and the entries of each row."""
    by_place = {point.at: point for point in surface.points}
    return tuple(
        (label, tuple(_entry(by_place.get((across, down))) for across in metric.across))
        for label, down in zip(metric.labels(_ROW), metric.down, strict=True)
    )


def _entry(point: PointEstimate | None) -> MapEntry:
    if point is None or point.overhead is None:
        return MapEntry(NO_VALUE, "")
    return MapEntry(
        point_percent(point.overhead), {1: "slower", -1: "faster", 0: "undecided"}[decided(point)]
    )


def print_surfaces(metrics: Iterable[SurfaceMetric], console: Console, *, show_all: bool) -> None:
    """Print what each surface shows, and with ``show_all`` every place."""
    for metric in metrics:
        title = Text(metric.name, style="bold").append(f" ({metric.better}; {metric.said})", style="not bold")
        console.print(Text(), title, *map(Text, sentences(metric)), sep="\n")
        for surface in metric.environments if show_all else ():
            console.print(
                Text(one_line(surface.curve.environment), style="bold"), _table(metric, surface), sep="\n"
            )


def _table(metric: SurfaceMetric, surface: CurveEstimate) -> Table:
    table = ruled_table()
    first, second = (one_line(each.name) for each in metric.dimensions)
    table.add_column(f"{second} \\ {first}", justify="right")
    for label in metric.labels(_COLUMN):
        table.add_column(label, justify="right")
    for label, entries in rows(metric, surface):
        table.add_row(Text(label), *_texts(entries))
    return table


def _texts(entries: Sequence[MapEntry]) -> Iterable[Text]:
    for entry in entries:
        yield Text(entry.text, style="dim" if entry.word == "undecided" else "")
