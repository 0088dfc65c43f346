# SPDX-License-Identifier: Apache-2.0
"""Curves in figures, at a few places."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.table import add_name_column, name_cell, name_width, ruled_table
from tare.drawing.words import NO_VALUE, counted, least_level, quantity
from tare.foreign import one_line
from tare.records import CurveEstimate
from tare.report.curves import (
    CurveMetric,
    place_label,
    ratio,
    ratio_interval,
    shown_places,
    value_interval,
)

POINTWISE = (
    "Each interval is of its own place alone: among many, some miss their true value by chance, so read runs of places,"
    " not single ones"
)
UNITS = "The ratio is of times for the same work, above 1 is slower; 1 KiB is 1024 B, 1 MB/s a million bytes per second"

_FIGURES_WIDTH = 63
"""What all but the names take, with the longest of the usual figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceRow:
    """One environment at one place, in words."""

    environment: str
    value: str
    value_interval: str
    ratio: str
    ratio_interval: str
    n: str


@dataclass(frozen=True, slots=True)
class PlaceGroup:
    """All environments at one place, native first."""

    place: str
    rows: tuple[PlaceRow, ...]


def place_groups(metric: CurveMetric) -> tuple[PlaceGroup, ...]:
    """What a table of this metric shows, place by place."""
    return tuple(
        PlaceGroup(
            place_label(place, metric.x_unit),
            tuple(_row(curve, place, metric.unit) for curve in metric.curves),
        )
        for place in shown_places(metric)
    )


def level(metric: CurveMetric) -> str:
    """The least level of the metric's intervals."""
    return least_level(point.value for curve in metric.curves for point in curve.points)


def print_curves(metrics: Iterable[CurveMetric], console: Console, *, show_all: bool) -> None:
    """Print one cell's curves at a few places: the first metric, with ``show_all`` every one."""
    every = list(metrics)
    shown = every if show_all else every[:1]
    for metric in shown:
        console.print(Text(), _title(metric), _table(metric, console.width), sep="\n")
    if shown:
        console.print(Text(f"{POINTWISE}. {UNITS}.", style="dim"))
    if hidden := len(every) - len(shown):
        console.print(Text(f"{counted(hidden, 'further curve')} hidden; --all shows every one", style="dim"))


def _row(curve: CurveEstimate, place: float, unit: str) -> PlaceRow:
    name = one_line(curve.curve.environment)
    point = next((point for point in curve.points if point.x == place), None)
    if point is None:
        return PlaceRow(
            environment=name,
            value=NO_VALUE,
            value_interval="",
            ratio="",
            ratio_interval="",
            n="0",
        )
    against = point.overhead
    return PlaceRow(
        environment=name,
        value=quantity(point.value.point, unit),
        value_interval=value_interval(point.value, unit),
        ratio=ratio(against.point) if against else "",
        ratio_interval=ratio_interval(against) if against else "",
        n=str((against or point.value).n),
    )


def _title(metric: CurveMetric) -> Text:
    title = Text(one_line(metric.name), style="bold")
    told = f" ({metric.better}; {metric.counted_places}, of which these; {metric.counts})"
    return title.append(told, style="not bold")


def _table(metric: CurveMetric, console_width: int) -> Table:
    groups = place_groups(metric)
    names = [row.environment for group in groups for row in group.rows]
    width = name_width(names, console_width - _FIGURES_WIDTH)
    table = ruled_table()
    add_name_column(table, "", width)
    table.add_column("value", justify="right", no_wrap=True, min_width=9)
    table.add_column(f"interval (≥ {level(metric)})", justify="right", no_wrap=True, min_width=17)
    table.add_column("ratio", justify="right", no_wrap=True, min_width=8)
    table.add_column("interval", justify="right", no_wrap=True, min_width=14)
    for group in groups:
        table.add_row(Text(group.place, style="bold"))
        for row in group.rows:
            table.add_row(name_cell(row.environment, width), *_figures(row))
    return table


def _figures(row: PlaceRow) -> Iterator[Text]:
    for text in (row.value, row.value_interval, row.ratio, row.ratio_interval):
        yield Text(text)
