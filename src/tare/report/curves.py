# SPDX-License-Identifier: Apache-2.0
"""Curves: what belongs in one picture, and figures at a few places, for programs and a terminal."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.table import add_name_column, name_cell, name_width, ruled_table
from tare.drawing.words import NO_VALUE, counted, least_level, prefixed, quantity
from tare.foreign import one_line
from tare.records import NATIVE, Analysis, Cell, CurveEstimate, Dimension, Direction, Estimate, PointEstimate
from tare.report.dimensions import projected
from tare.report.load_shapes import BusyBlocksShape
from tare.report.places import place_label
from tare.report.shape import ByName, CellShape, EstimateShape, JsonShape, Number, in_unit, key
from tare.report.together import together_said
from tare.units import DASH, KIBIBYTE, MEBIBYTE

POINTWISE = (
    "Each interval holds for its own point only: among many, some miss their true value by chance, so read runs of "
    "points, not single ones"
)
UNITS = "The ratio is of times for the same work, above 1 is slower; 1 KiB is 1024 B, 1 MB/s a million bytes per second"

_FIGURES_WIDTH = 63
"""What all but the names take, with the longest of the usual figures."""
_SHOWN_BYTE = (1, KIBIBYTE, 64 * KIBIBYTE, MEBIBYTE)
_SHOWN_OTHERS = 5
_SIZE = Dimension("size", "B")
_SAME_RATIO = 0.001
"""Printed digits of a time and of a rate round apart by less than a thousandth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveMetric:
    """One metric of one cell: its curves, native first."""

    cell: Cell
    curves: tuple[CurveEstimate, ...]
    same_ratios: str = ""
    """The metric before it in the cell with the same ratios to native, such as latency for bandwidth; empty: none."""

    @property
    def name(self) -> str:
        return self.curves[0].curve.metric

    @property
    def unit(self) -> str:
        return one_line(self.curves[0].curve.unit)

    @property
    def dimension(self) -> Dimension:
        name, unit = self.curves[0].curve.dimensions[0]
        return Dimension(one_line(name), None if unit is None else one_line(unit))

    @property
    def better(self) -> str:
        return str(self.curves[0].curve.direction)

    @property
    def environments(self) -> tuple[CurveEstimate, ...]:
        """All curves but native's."""
        return tuple(curve for curve in self.curves if curve.curve.environment != NATIVE)

    @property
    def places(self) -> tuple[float, ...]:
        """Every place of any curve, rising."""
        return tuple(sorted({point.at[0] for curve in self.curves for point in curve.points}))

    @property
    def counted_places(self) -> str:
        """``"41 sizes"``, or ``"41 values of n"``."""
        count = len(self.places)
        if self.dimension == _SIZE:
            return counted(count, self.dimension.name)
        return f"{counted(count, 'value')} of {self.dimension.name}"

    @property
    def banded(self) -> bool:
        """Whether any place has an interval."""
        return any(point.value.low is not None for curve in self.curves for point in curve.points)

    @property
    def counts(self) -> str:
        """How many blocks stand behind the places: ``"n = 10"``, or a range."""
        counts = [(point.overhead or point.value).n for curve in self.curves for point in curve.points]
        least, most = min(counts), max(counts)
        return f"n = {least}" if least == most else f"n = {least}{DASH}{most}"


def curve_metrics(analysis: Analysis) -> tuple[CurveMetric, ...]:
    """Cell after cell, each metric's curves over one dimension, in the order of the analysis."""
    metrics: list[CurveMetric] = []
    for curves in projected(analysis.curves):
        if len(curves[0].curve.dimensions) > 1:
            continue
        metric = CurveMetric(cell=curves[0].curve.cell, curves=curves)
        alike = (
            earlier.name
            for earlier in metrics
            if earlier.cell == metric.cell and _have_same_ratios(earlier, metric)
        )
        metrics.append(replace(metric, same_ratios=next(alike, "")))
    return tuple(metrics)


def _have_same_ratios(earlier: CurveMetric, later: CurveMetric) -> bool:
    """Whether both show the same work: a bandwidth is a size by a time, so that nothing new is in its ratios."""
    ratios = [
        [
            (curve.curve.environment, point.at, point.overhead.point)
            for curve in metric.environments
            for point in curve.points
            if point.overhead
        ]
        for metric in (earlier, later)
    ]
    first, second = ratios
    return (
        bool(first)
        and [entry[:2] for entry in first] == [entry[:2] for entry in second]
        and all(abs(early[2] - late[2]) < _SAME_RATIO for early, late in zip(first, second, strict=True))
    )


def shown_places(metric: CurveMetric) -> tuple[float, ...]:
    """The few places that a table shows: 1 B, 1 KiB, 64 KiB, 1 MiB as far as they are there, the least and the most.

    Where places are not bytes, five that are evenly spread over them.
    """
    places = metric.places
    if metric.dimension.unit != "B":
        last, count = len(places) - 1, min(len(places), _SHOWN_OTHERS)
        return tuple(places[round(last * number / max(count - 1, 1))] for number in range(count))
    known = {place for place in places if place in _SHOWN_BYTE}
    return tuple(sorted(known | {places[0], places[-1]}))


def value_interval(estimate: Estimate, unit: str) -> str:
    """A range of positive values, both ends with one prefix; ``"none (n = 4)"`` when there is none."""
    if estimate.low is None or estimate.high is None:
        return f"none (n = {estimate.n})"
    factor, prefixed_unit = prefixed(estimate.high, unit)
    low, high = estimate.low / factor, estimate.high / factor
    decimals = max(3 - math.floor(math.log10(high)), 0)
    return f"{_with_decimals(low, decimals)}{DASH}{_with_decimals(high, decimals)} {prefixed_unit}".rstrip()


def ratio(overhead: float) -> str:
    """An overhead (fraction) as the ratio to native, with four digits: ``"1.053"``, ``"302.1"``."""
    return _with_decimals(1 + overhead, _ratio_decimals(1 + overhead))


def ratio_interval(overhead: Estimate) -> str:
    """A range of ratios; ``"none (n = 4)"`` when there is none."""
    if overhead.low is None or overhead.high is None:
        return f"none (n = {overhead.n})"
    decimals = _ratio_decimals(1 + overhead.high)
    return f"{_with_decimals(1 + overhead.low, decimals)}{DASH}{_with_decimals(1 + overhead.high, decimals)}"


def _ratio_decimals(value: float) -> int:
    return max((3 if value >= 1 else 2) - math.floor(math.log10(value)), 0) if value > 0 else 0


def _with_decimals(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}"


def curves_described(metric: CurveMetric) -> str:
    """The picture in words, for those who hear the page: the places of ``shown_places``."""
    shown = shown_places(metric)
    return "; ".join(
        point_said(curve, point) for curve in metric.curves for point in curve.points if point.at[0] in shown
    )


def point_said(curve: CurveEstimate, point: PointEstimate) -> str:
    """One place of a curve in words, on one line."""
    places = zip(point.at, curve.curve.dimensions, strict=True)
    whose, where = (
        one_line(curve.curve.environment),
        ", ".join(one_line(place_label(*each)) for each in places),
    )
    unit = one_line(curve.curve.unit)
    value = f"{whose} at {where}: {quantity(point.value.point, unit)}, interval {value_interval(point.value, unit)}"
    if point.overhead is None:
        return f"{value}, n = {point.value.n}"
    against = f"{ratio(point.overhead.point)} times native's time, interval {ratio_interval(point.overhead)}"
    return f"{value}; {against}, n = {point.overhead.n}"


def curve_sentences(metric: CurveMetric) -> tuple[str, ...]:
    """What each environment's curve shows as a whole, where its band does; not again for the same ratios."""
    if metric.same_ratios:
        return ()
    return tuple(filter(None, map(together_said, metric.environments)))


class PointShape(JsonShape):
    """A point with a complete block, by rising coordinates.

    Its intervals hold individually, not for the whole curve together.
    """

    x: Number | None = key("the coordinate where there is one dimension; `null` where there are more")
    at: list[Number] = key("one coordinate for each of the curve's `dimensions`")
    value: EstimateShape = key("in the metric's own unit")
    overhead: EstimateShape | None = key(
        "against native, as `typical` in a verdict; `null` for native itself"
    )
    together: EstimateShape | None = key(
        "the robust mean of the overhead, with the interval that holds for all points of the curve together; `null` as "
        "`overhead`, and with fewer than six blocks that all points have"
    )


class DimensionShape(JsonShape):
    """What varies along one axis."""

    name: str = key("such as `size`, `stride` or `ranks`")
    unit: str | None = key('such as `"B"`; `null`: a count')


class CurveShape(JsonShape):
    """One object per cell, metric and environment, native included.

    [netpipe.md](netpipe.md) explains how to read them.
    """

    cell: CellShape = key("the cell", "curve.cell")
    environment: str = key("as in a verdict", "curve.environment")
    metric: str = key("as in a verdict", "curve.metric")
    direction: ByName[Direction] = key("as in a verdict", "curve.direction")
    x_unit: str | None = key(
        'unit of every `x`, such as `"B"`, or the name of what is counted; `null` without an `x`',
        lambda of: _x_unit(of.curve.dimensions),
    )
    dimensions: list[DimensionShape] = key("what varies; two make a surface", "curve.dimensions")
    withheld: str | None = key(
        "why nothing is claimed of all points together: the host was busy; `null`: nothing hinders it"
    )
    busy: BusyBlocksShape = key("complete blocks in which others kept the host busy", "curve.busy")
    points: list[PointShape] = key(
        "the points", lambda of: [_point(point, of.curve.unit) for point in of.points]
    )


def _point(point: PointEstimate, unit: str) -> PointShape:
    x = point.at[0] if len(point.at) == 1 else None
    return PointShape(
        x=x,
        at=list(point.at),
        value=in_unit(point.value, unit),
        overhead=point.overhead,
        together=point.together,
    )


def _x_unit(dimensions: Sequence[Dimension]) -> str | None:
    return (dimensions[0].unit or dimensions[0].name) if len(dimensions) == 1 else None


class CurvesJson(JsonShape):
    curves: list[CurveShape] = key(
        "metrics that were measured over coordinates, such as a message size; empty where there are none"
    )


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
            place_label(place, metric.dimension),
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
        said = map(Text, curve_sentences(metric))
        console.print(Text(), _title(metric), _table(metric, console.width), *said, sep="\n")
    if shown:
        console.print(Text(f"{POINTWISE}. {UNITS}.", style="dim"))
    if hidden := len(every) - len(shown):
        console.print(Text(f"{counted(hidden, 'further curve')} hidden; --all shows every one", style="dim"))


def _row(curve: CurveEstimate, place: float, unit: str) -> PlaceRow:
    name = one_line(curve.curve.environment)
    point = next((point for point in curve.points if point.at[0] == place), None)
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
    described = f" ({metric.better}; {metric.counted_places}, of which these; {metric.counts})"
    return title.append(described, style="not bold")


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
