# SPDX-License-Identifier: Apache-2.0
"""Order experiments and the courses of iterations, in words and for a terminal; it only arranges."""

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.table import ruled_table
from tare.drawing.words import counted, interval_percent, point_percent
from tare.foreign import one_line
from tare.records import Analysis, IterationCourse, OrderVerdict, OrderWord, Steadiness
from tare.report import arrange

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
    return f"{arrange.place(summary.cell)} by {one_line(summary.option)}, {one_line(summary.metric)}"


def orders_by_title(analysis: Analysis) -> dict[str, list[OrderVerdict]]:
    found: dict[str, list[OrderVerdict]] = {}
    for verdict in analysis.orders:
        found.setdefault(order_title(verdict), []).append(verdict)
    return found


def courses_said(one: Steadiness) -> str:
    """Such as "10 iterations in each of 8 starts: warm-up in 6, flat in 2"."""
    told = ", ".join(
        f"{course} in {one.counts[course]}" for course in IterationCourse if course in one.counts
    )
    return f"{counted(one.iterations, 'iteration')} in each of {counted(one.starts, 'start')}: {told}"


def print_order(analysis: Analysis, console: Console) -> None:
    """Print a table for each experiment and metric; nothing without one."""
    found = orders_by_title(analysis)
    if found:
        console.print(Text(f"\n{ORDER_TITLE}", style="bold"))
        console.print(Text(ORDER_EXPLANATION))
    for title, verdicts in found.items():
        console.print(Text(f"\n{title}", style="bold"))
        console.print(_growths(verdicts), _contrasts(verdicts), *_sentences(verdicts), sep="\n")


def print_steadiness(analysis: Analysis, console: Console) -> None:
    """Print a line for each environment; nothing without iterations."""
    if analysis.steadiness:
        console.print(Text(f"\n{STEADY_TITLE}", style="bold"))
        console.print(Text(STEADY_EXPLANATION))
    for one in analysis.steadiness:
        where = f"{one_line(one.environment)} ({arrange.place(one.cell)})"
        console.print(Text(f"{where}: {courses_said(one)}"))


def _growths(verdicts: Iterable[OrderVerdict]) -> Table:
    table = _table()
    for title in ("growth", "interval", "p", "verdict", "n"):
        table.add_column(title, justify="left" if title == "verdict" else "right", no_wrap=title != "verdict")
    for verdict in verdicts:
        table.add_row(
            Text(one_line(verdict.summary.environment)),
            point_percent(verdict.growth),
            interval_percent(verdict.growth),
            probability(verdict),
            Text(verdict.word, style=_STYLE[verdict.word]),
            str(verdict.growth.n),
        )
    return table


def _contrasts(verdicts: Iterable[OrderVerdict]) -> Table:
    table = _table(CONTRASTS)
    for title in ("value", "late over early", "interval", "n"):
        table.add_column(title, justify="right", no_wrap=True)
    for verdict in verdicts:
        for contrast in verdict.contrasts:
            ratio = contrast.late_over_early
            table.add_row(
                Text(one_line(verdict.summary.environment)),
                f"{contrast.value:g}",
                point_percent(ratio),
                interval_percent(ratio),
                str(ratio.n),
            )
    return table


def _sentences(verdicts: Iterable[OrderVerdict]) -> Iterator[Text]:
    for verdict in verdicts:
        advice = order_advice(verdict)
        yield Text(
            f"{one_line(verdict.sentence)}{f'; {advice}' if advice else ''}", style=_STYLE[verdict.word]
        )


def _table(title: str | None = None) -> Table:
    table = ruled_table(title)
    table.add_column("environment", overflow="fold", width=16)
    return table
