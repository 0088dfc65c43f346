# SPDX-License-Identifier: Apache-2.0
"""Order experiments and the courses of iterations: for programs, for a terminal, for the page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.artist import Artist
from tare.drawing.table import ruled_table
from tare.drawing.words import counted, interval_percent, point_percent
from tare.foreign import one_line
from tare.records import Analysis, IterationCourse, OrderVerdict, OrderWord, Steadiness
from tare.report import in_json
from tare.report.arrange import place
from tare.report.page import MISSING, PageSection, section

ORDER_TITLE = "Does state accumulate within one start?"
ORDER_EXPLANATION = (
    "Each start ran all values, in rising, falling or random order. Growth: how much more time the same work takes at "
    "the end of a series than at its beginning, by the time since the start; p: the chance of so much if the order "
    "made no difference."
)
CONTRASTS = "The same value, run late over run early"
STEADY_TITLE = "Iterations within one start"
STEADY_EXPLANATION = (
    "How the runs within a start go on, by change points of the primary metric. The first run is a metric of its own, "
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


def json(analysis: Analysis) -> dict[str, Any]:
    """The parts of ``tare show --json`` that are about several runs within one start (docs/json.md)."""
    return {
        "orders": [_order(verdict) for verdict in analysis.orders],
        "iterations": [
            {
                "cell": in_json.cell(steadiness.cell),
                "environment": steadiness.environment,
                "metric": steadiness.metric,
                "iterations": steadiness.iterations,
                "starts": steadiness.starts,
                "courses": {course.value: count for course, count in steadiness.counts.items()},
            }
            for steadiness in analysis.steadiness
        ],
    }


def _order(verdict: OrderVerdict) -> dict[str, Any]:
    summary = verdict.summary
    return {
        "cell": in_json.cell(summary.cell),
        "environment": summary.environment,
        "option": summary.option,
        "metric": summary.metric,
        "growth": in_json.estimate(verdict.growth),
        "span_s": verdict.span_s,
        "permutation_p": verdict.permutation_p,
        "margin": verdict.margin,
        "word": verdict.word.name.lower(),
        "sentence": verdict.sentence,
        "late_over_early": [
            {"value": contrast.value, **in_json.estimate(contrast.late_over_early)}
            for contrast in verdict.contrasts
        ],
        "blocks": [
            {
                "block": block.block,
                "starts": [
                    {
                        "order": start.ordering.value,
                        "runs": [
                            {"value": run.value, "uptime_s": run.uptime_s, "log_time": run.log_time}
                            for run in start.runs
                        ],
                    }
                    for start in block.starts
                ],
            }
            for block in summary.blocks
        ],
        "dropped_blocks": summary.dropped_blocks,
    }


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
            Text(one_line(verdict.summary.environment)),
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
                Text(one_line(verdict.summary.environment)),
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
    printed.add_column("environment", overflow="fold", width=16)
    return printed
