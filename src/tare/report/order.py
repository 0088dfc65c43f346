# SPDX-License-Identifier: Apache-2.0
"""Order experiments and the courses of iterations: for programs, for a terminal, for the page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.artist import Artist
from tare.drawing.table import LEAST_NAME, add_name_column, name_cell, ruled_table
from tare.drawing.words import counted, interval_percent, point_percent
from tare.foreign import one_line
from tare.records import (
    Analysis,
    IterationCourse,
    Ordering,
    OrderVerdict,
    OrderWord,
    Steadiness,
    Withheld,
)
from tare.report.arrange import place
from tare.report.load_shapes import BusyBlocksShape
from tare.report.page import MISSING, PageSection, section
from tare.report.shape import ByName, CellShape, EstimateShape, JsonShape, MetricShape, key

ORDER_TITLE = "Does state accumulate within one start?"
ORDER_EXPLANATION = (
    "Each start ran all values, in rising, falling or random order. Growth: how much longer the same work takes at the "
    "end of a series than at its beginning, by the time since the start; p: the chance of such a growth, or a larger "
    "one, if the order made no difference."
)
CONTRASTS = "The same value, run late over run early"
STEADY_TITLE = "Iterations within one start"
STEADY_EXPLANATION = (
    "How the runs within a start develop, by change points of the primary metric. The first run is a separate metric, "
    "marked (first)."
)
FRESH = "start the environment afresh for each run"
_STYLE = {OrderWord.ACCUMULATES: "red", OrderWord.WITHIN: "green", OrderWord.UNDECIDED: "dim"}


def order_advice(verdict: OrderVerdict) -> str | None:
    """What to do, where there is something to do."""
    return FRESH if verdict.word is OrderWord.ACCUMULATES else None


def probability(verdict: OrderVerdict) -> str:
    p = verdict.permutation_p
    if p is None:
        return "not known"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"  # noqa: PLR2004 - what three digits can tell


def order_title(verdict: OrderVerdict) -> str:
    """Of all environments with the same experiment and metric."""
    summary = verdict.summary
    return f"{place(summary.cell)} by {one_line(summary.option)}, {one_line(summary.metric)}"


def orders_by_title(analysis: Analysis) -> dict[str, list[OrderVerdict]]:
    by_title: dict[str, list[OrderVerdict]] = {}
    for verdict in analysis.orders:
        by_title.setdefault(order_title(verdict), []).append(verdict)
    return by_title


def courses_said(steadiness: Steadiness) -> str:
    """Such as "10 iterations in each of 8 starts: warm-up in 6, flat in 2"."""
    counts = steadiness.counts
    courses = ", ".join(f"{course} in {counts[course]}" for course in IterationCourse if course in counts)
    starts = counted(steadiness.starts, "start")
    return f"{counted(steadiness.iterations, 'iteration')} in each of {starts}: {courses}"


class VariedValueShape(JsonShape):
    """A value of the option that was varied."""

    value: float = key("the option's value")


class ContrastShape(EstimateShape, VariedValueShape):
    """The time of one value at its latest place over its time at the earliest."""


class OrderedRunShape(VariedValueShape):
    """A run of a series."""

    uptime_s: float = key("seconds from the end of the nodes' start to the start of the run")
    log_time: float = key("natural logarithm of its time per unit of work")


class OrderedStartShape(JsonShape):
    """A series of runs within one start."""

    order: Ordering = key("the order of the values", "ordering")
    runs: list[OrderedRunShape] = key("in sequence")


class OrderedBlockShape(JsonShape):
    """A block of an order experiment."""

    block: int = key("its number")
    starts: list[OrderedStartShape] = key("one for each order")


class OrderShape(JsonShape):
    """One object per cell, environment and metric of an order experiment ([order.md](order.md))."""

    cell: CellShape = key("`workload`, and `layout` without the order", "summary.cell")
    environment: str = key("as in a verdict; native is one of the environments", "summary.environment")
    option: str = key("the option that was varied", "summary.option")
    metric: str = key("as in a verdict", "summary.metric")
    growth: EstimateShape = key(
        "how much more time the same work takes at the end of a series than at its beginning"
    )
    span_s: float = key("median time from the first run's start in a series to the last run's")
    permutation_p: float = key("probability of so large a slope if the order made no difference")
    margin: float = key("growth that counts as none, as a fraction")
    word: ByName[OrderWord] = key("the verdict; within: no material state")
    sentence: str = key("the verdict in words")
    late_over_early: list[ContrastShape] = key(
        "for each value, rising",
        lambda of: [ContrastShape.taken(each.late_over_early, value=each.value) for each in of.contrasts],
    )
    blocks: list[OrderedBlockShape] = key("the values themselves", "summary.blocks")
    dropped_blocks: int = key("blocks begun that lack a run", "summary.dropped_blocks")
    busy: BusyBlocksShape = key("complete blocks in which others kept the host busy", "summary.busy")
    withheld: Withheld | None = key("as in a verdict")


class IterationsShape(MetricShape):
    """One object per cell, environment and metric with iterations.

    Metrics whose name ends in ` (first)` describe the first run of each start; the others describe all later
    ones.
    """

    iterations: int = key("the largest number of runs within a start, including the first")
    starts: int = key("the number of complete starts")
    courses: dict[IterationCourse, int] = key("how many of them took each course", "counts")


class OrderJson(JsonShape):
    orders: list[OrderShape] = key("what order experiments showed; empty without one")
    iterations: list[IterationsShape] = key(
        "the course of the runs within one start; empty without iterations", "steadiness"
    )


def table(analysis: Analysis, console: Console, *, show_all: bool) -> None:  # noqa: ARG001 - as every topic's
    """Print a table for each experiment and metric, and a line for each environment with iterations."""
    _print_order(analysis, console)
    _print_steadiness(analysis, console)


def html(analysis: Analysis, artist: Artist) -> Sequence[PageSection]:  # noqa: ARG001 - as every topic's
    """A section of order experiments, and one of iterations."""
    return [_order_section(orders_by_title(analysis)), _iterations_section(analysis.steadiness)]


def _order_section(orders: Mapping[str, Sequence[OrderVerdict]]) -> PageSection:
    if not orders:
        return MISSING
    return section(
        "order",
        "Order",
        title=ORDER_TITLE,
        explanation=ORDER_EXPLANATION,
        contrasts=CONTRASTS,
        orders=orders,
        advice=order_advice,
        probability=probability,
    )


def _iterations_section(steadiness: Sequence[Steadiness]) -> PageSection:
    if not steadiness:
        return MISSING
    return section(
        "iterations",
        "Iterations",
        title=STEADY_TITLE,
        explanation=STEADY_EXPLANATION,
        steadiness=steadiness,
        courses_said=courses_said,
    )


def _print_order(analysis: Analysis, console: Console) -> None:
    by_title = orders_by_title(analysis)
    if by_title:
        console.print(Text(f"\n{ORDER_TITLE}", style="bold"))
        console.print(Text(ORDER_EXPLANATION))
    for title, verdicts in by_title.items():
        console.print(Text(f"\n{title}", style="bold"))
        console.print(_growths(verdicts), _contrasts(verdicts), *_sentences(verdicts), sep="\n")


def _print_steadiness(analysis: Analysis, console: Console) -> None:
    if analysis.steadiness:
        console.print(Text(f"\n{STEADY_TITLE}", style="bold"))
        console.print(Text(STEADY_EXPLANATION))
    for steadiness in analysis.steadiness:
        where = f"{one_line(steadiness.environment)} ({place(steadiness.cell)})"
        console.print(Text(f"{where}: {courses_said(steadiness)}"))


def _growths(verdicts: Iterable[OrderVerdict]) -> Table:
    growths = _rows_table()
    for title in ("growth", "interval", "p", "verdict", "n"):
        growths.add_column(
            title, justify="left" if title == "verdict" else "right", no_wrap=title != "verdict"
        )
    for verdict in verdicts:
        growths.add_row(
            name_cell(verdict.summary.environment, LEAST_NAME),
            point_percent(verdict.growth),
            interval_percent(verdict.growth),
            probability(verdict),
            Text(verdict.word, style=_STYLE[verdict.word]),
            str(verdict.growth.n),
        )
    return growths


def _contrasts(verdicts: Iterable[OrderVerdict]) -> Table:
    contrasts = _rows_table(CONTRASTS)
    for title in ("value", "late over early", "interval", "n"):
        contrasts.add_column(title, justify="right", no_wrap=True)
    for verdict in verdicts:
        for contrast in verdict.contrasts:
            ratio = contrast.late_over_early
            contrasts.add_row(
                name_cell(verdict.summary.environment, LEAST_NAME),
                f"{contrast.value:g}",
                point_percent(ratio),
                interval_percent(ratio),
                str(ratio.n),
            )
    return contrasts


def _sentences(verdicts: Iterable[OrderVerdict]) -> Iterator[Text]:
    for verdict in verdicts:
        advice = order_advice(verdict)
        yield Text(
            f"{one_line(verdict.sentence)}{f'; {advice}' if advice else ''}", style=_STYLE[verdict.word]
        )


def _rows_table(title: str | None = None) -> Table:
    printed = ruled_table(title)
    add_name_column(printed, "environment", LEAST_NAME)
    return printed
