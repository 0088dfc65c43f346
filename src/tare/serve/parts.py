# SPDX-License-Identifier: Apache-2.0
"""What a result has beside its overheads: drawn as the report draws it, when somebody asks, and then kept."""

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias, TypeVar

from markupsafe import Markup

from tare.drawing.artist import Artist
from tare.records import (
    NATIVE,
    Analysis,
    Cell,
    CurveEstimate,
    Dependence,
    OrderVerdict,
    SharingLoss,
    Steadiness,
)
from tare.report import arrange, factors, order, sharing
from tare.report.bounds import bounded
from tare.report.cells import CURVE_WORDS, CurveFigure, SurfaceFigure, curve_figure, surface_figure
from tare.report.curves import CurveMetric, curve_metrics
from tare.report.page import PageSection, templates
from tare.report.surfaces import SurfaceMetric, surface_metrics
from tare.serve.choice import ViewChoice

PICTURES = 10
"""Curves and maps on one page."""
_KEPT = 24
"""Parts with their filters that stay in memory, of each result."""
_TURN = threading.Lock()
"""Of the one who draws: drawing takes a processor, which a running campaign needs."""
Owner: TypeAlias = tuple[str, tuple[Cell, ...]]
"""An environment, and the cells of which a figure is."""
_Known = TypeVar("_Known", CurveEstimate, Dependence, SharingLoss, OrderVerdict, Steadiness)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPart:
    """A part as the filters leave it; ``text`` is empty where they leave nothing."""

    text: Markup
    page: int = 1
    pages: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPart:
    """A section below the chart, with an address of its own."""

    name: str
    """In addresses."""
    label: str
    said: str
    """What a reader finds there."""
    owners: Callable[[Analysis], Iterable[Owner]]
    """Of each of its figures."""
    draw: Callable[[Analysis, Artist, ViewChoice], DrawnPart]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveCell:
    """The pictures of one cell on one page."""

    cell: Cell
    curves: tuple[CurveFigure, ...]
    surfaces: tuple[SurfaceFigure, ...]


class ResultParts:
    """The parts of one result, each drawn once for each choice of filters."""

    def __init__(self, analysis: Analysis) -> None:
        """One artist draws all, so that no two pictures of a page have one identity."""
        self.analysis = bounded(analysis)
        self.left_out = len(analysis.curves) - len(self.analysis.curves)
        """Curves that are too many to be drawn."""
        self._artist = Artist(arrange.environments(analysis), analysis.margin, arrange.CONTROL)
        self._drawn: OrderedDict[tuple[str, ViewChoice], DrawnPart] = OrderedDict()
        self._owners = {part.name: frozenset(part.owners(self.analysis)) for part in PARTS.values()}

    @property
    def present(self) -> tuple[ResultPart, ...]:
        """Those that the result has."""
        return tuple(part for part in PARTS.values() if self._owners[part.name])

    @property
    def places(self) -> tuple[tuple[str, Cell], ...]:
        """Each environment and cell of any part, by name."""
        every = {(name, cell) for owners in self._owners.values() for name, cells in owners for cell in cells}
        return tuple(sorted(every, key=lambda place: (place[0], place[1].workload, place[1].layout)))

    def left(self, choice: ViewChoice) -> frozenset[str]:
        """Names of the parts in which the filters leave something."""
        return frozenset(name for name, owners in self._owners.items() if _kept(choice, owners))

    def drawn(self, part: ResultPart, choice: ViewChoice) -> DrawnPart:
        """As the filters of environment, workload and layout leave it; ``HostError`` if it cannot be drawn."""
        key = part.name, replace(choice.places, rows=choice.rows)
        with _TURN:
            drawn = self._drawn.pop(key, None)
            if drawn is None:
                drawn = part.draw(left_in(self.analysis, choice), self._artist, choice)
            self._drawn[key] = drawn
            while len(self._drawn) > _KEPT:
                self._drawn.popitem(last=False)
            return drawn


def left_in(analysis: Analysis, choice: ViewChoice) -> Analysis:
    """The analysis with what the filters leave of its parts."""
    return replace(
        analysis,
        curves=_left(choice, analysis.curves, _of_curve),
        dependences=_left(choice, analysis.dependences, _of_dependence),
        sharing=_left(choice, analysis.sharing, _of_loss),
        orders=_left(choice, analysis.orders, _of_order),
        steadiness=_left(choice, analysis.steadiness, _of_course),
    )


def _left(choice: ViewChoice, every: Iterable[_Known], of: Callable[[_Known], Owner]) -> tuple[_Known, ...]:
    given = tuple(every)
    kept = _kept(choice, map(of, given))
    return tuple(each for each in given if of(each) in kept)


def _kept(choice: ViewChoice, owners: Iterable[Owner]) -> frozenset[Owner]:
    """Nothing where an environment is asked for and only native is left."""
    kept = frozenset((name, cells) for name, cells in owners if choice.keeps(name, *cells))
    is_any = not choice.environment or any(name != NATIVE for name, _ in kept)
    return kept if is_any else frozenset()


def _of_curve(estimate: CurveEstimate) -> Owner:
    return estimate.curve.environment, (estimate.curve.cell,)


def _of_dependence(dependence: Dependence) -> Owner:
    own = dependence.cells
    shared = Cell(workload=own.workload, layout=own.setting)
    return dependence.environment, (shared, *chain.from_iterable(own.cells))


def _of_loss(loss: SharingLoss) -> Owner:
    cells = loss.summary.cells
    return loss.summary.environment, (cells.shared, cells.alone)


def _of_order(verdict: OrderVerdict) -> Owner:
    return verdict.summary.environment, (verdict.summary.cell,)


def _of_course(steadiness: Steadiness) -> Owner:
    return steadiness.environment, (steadiness.cell,)


def _whole(
    html: Callable[[Analysis, Artist], Sequence[PageSection]],
) -> Callable[[Analysis, Artist, ViewChoice], DrawnPart]:
    """Draw the report's own sections of a topic."""

    def draw(analysis: Analysis, artist: Artist, _: ViewChoice) -> DrawnPart:
        return DrawnPart(text=Markup().join(section.text for section in html(analysis, artist)))

    return draw


def _draw_curves(analysis: Analysis, artist: Artist, choice: ViewChoice) -> DrawnPart:
    """A page of the pictures, cell after cell."""
    every = _pictured(analysis, choice)
    pages = max(1, math.ceil(len(every) / PICTURES))
    page = min(choice.rows, pages)
    shown = every[(page - 1) * PICTURES : page * PICTURES]
    if not shown:
        return DrawnPart(text=Markup())
    text = (
        templates("tare.serve")
        .get_template("curve_cells.html.j2")
        .render(
            sections=_cells(shown, artist),
            looks={name: look for name, look in artist.looks.items() if choice.environment in {"", name}},
            **CURVE_WORDS,
        )
    )
    return DrawnPart(text=Markup(text), page=page, pages=pages)  # noqa: S704 - escaped by Jinja


def _pictured(analysis: Analysis, choice: ViewChoice) -> list[CurveMetric | SurfaceMetric]:
    curves = [metric for metric in curve_metrics(analysis) if metric.environments or not choice.environment]
    maps = [metric for metric in surface_metrics(analysis) if metric.environments]
    every: list[CurveMetric | SurfaceMetric] = [*curves, *maps]
    cells = list(dict.fromkeys(estimate.curve.cell for estimate in analysis.curves))
    return sorted(every, key=lambda metric: cells.index(metric.cell))


def _cells(shown: Sequence[CurveMetric | SurfaceMetric], artist: Artist) -> list[CurveCell]:
    return [
        CurveCell(
            cell=cell,
            curves=tuple(
                curve_figure(artist, metric)
                for metric in shown
                if isinstance(metric, CurveMetric) and metric.cell == cell
            ),
            surfaces=tuple(
                surface_figure(artist, metric)
                for metric in shown
                if isinstance(metric, SurfaceMetric) and metric.cell == cell
            ),
        )
        for cell in dict.fromkeys(metric.cell for metric in shown)
    ]


PARTS = {
    part.name: part
    for part in (
        ResultPart(
            name="curves",
            label="Curves",
            said="What was measured over coordinates, such as bandwidth over message sizes: curves and maps",
            owners=lambda analysis: map(_of_curve, analysis.curves),
            draw=_draw_curves,
        ),
        ResultPart(
            name="factors",
            label="Factors",
            said="Whether the overhead depends on what was varied",
            owners=lambda analysis: map(_of_dependence, analysis.dependences),
            draw=_whole(factors.html),
        ),
        ResultPart(
            name="sharing",
            label="Sharing",
            said="What an instance loses with company",
            owners=lambda analysis: map(_of_loss, analysis.sharing),
            draw=_whole(sharing.html),
        ),
        ResultPart(
            name="order",
            label="Order and iterations",
            said="Whether state accumulates within one start, and the course of iterations",
            owners=lambda analysis: chain(
                map(_of_order, analysis.orders), map(_of_course, analysis.steadiness)
            ),
            draw=_whole(order.html),
        ),
    )
}
"""By their names, in the report's order."""
