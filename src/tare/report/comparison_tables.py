# SPDX-License-Identifier: Apache-2.0
"""Rankings, checks, spreads and levels of noise for a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.table import ruled_table
from tare.drawing.words import NO_VALUE, counted, interval_percent, point_percent, quantity
from tare.foreign import one_line
from tare.records import Analysis, ArmSpread, Cell, Ranked
from tare.report import arrange, comparisons

_NAME_WIDTH = 16


def print_comparisons(analysis: Analysis, console: Console, *, show_all: bool) -> None:
    """Print what sets environments, workloads and levels against each other; what is not there is left out."""
    _print_rankings(analysis, console)
    _print_across(analysis, console)
    if show_all:
        _print_spreads(analysis, console)
    _print_variances(analysis, console)
    _print_remarks(analysis, console, show_all=show_all)
    for sentence in comparisons.families_said(analysis):
        console.print(Text(f"\n{sentence}", style="dim"))


def _print_rankings(analysis: Analysis, console: Console) -> None:
    if told := comparisons.told_rankings(analysis):
        _heading(comparisons.RANKING_TITLE, comparisons.RANKING_EXPLANATION, console)
        for ranking in told:
            console.print(Text(f"\n{arrange.place(ranking.cell)}: {one_line(ranking.metric)}", style="bold"))
            rows = [(one_line(place.environment), *_ranked(place)) for place in ranking.places]
            console.print(_table(("environment", "letters", "overhead", "interval", "n"), rows))
            for said in filter(None, (comparisons.equals_said(ranking), comparisons.reach_said(ranking))):
                console.print(Text(said))


def _ranked(place: Ranked) -> Sequence[str]:
    if place.overhead is None:
        return place.letters, "", "", ""
    overhead = place.overhead
    return place.letters, point_percent(overhead), interval_percent(overhead), str(overhead.n)


def _print_across(analysis: Analysis, console: Console) -> None:
    if not analysis.across_workloads:
        return
    _heading(comparisons.ACROSS_TITLE, comparisons.ACROSS_EXPLANATION, console)
    rows = [
        (
            one_line(each.environment),
            one_line(each.layout),
            str(len(each.workloads)),
            point_percent(each.overhead),
            interval_percent(each.overhead),
            str(each.overhead.n),
        )
        for each in analysis.across_workloads
    ]
    console.print(_table(("environment", "layout", "workloads", "overhead", "interval", "n"), rows))


def _print_spreads(analysis: Analysis, console: Console) -> None:
    groups: dict[tuple[Cell, str, str], list[ArmSpread]] = {}
    for spread in comparisons.shown_spreads(analysis, show_all=True):
        groups.setdefault((spread.cell, spread.metric, spread.unit), []).append(spread)
    if not groups:
        return
    _heading(comparisons.SPREAD_TITLE, comparisons.SPREAD_EXPLANATION, console)
    for (cell, metric, _), spreads in groups.items():
        console.print(Text(f"\n{arrange.place(cell)}: {one_line(metric)}", style="bold"))
        rows = [
            (
                one_line(spread.environment),
                quantity(spread.p50.point, spread.unit),
                comparisons.p95(spread),
                quantity(spread.slowest, spread.unit),
                str(spread.n),
            )
            for spread in spreads
        ]
        console.print(_table(("environment", "median", "p95", "slowest", "n runs"), rows))


def _print_variances(analysis: Analysis, console: Console) -> None:
    told = [split for split in analysis.variances if split.between_iterations]
    if not told:
        return
    _heading(comparisons.VARIANCE_TITLE, comparisons.VARIANCE_EXPLANATION, console)
    for split in told:
        where = f"{one_line(split.environment)} ({arrange.place(split.cell)})"
        levels = (
            f"blocks {comparisons.deviation(split.between_blocks)}, "
            f"starts {comparisons.deviation(split.between_starts)}, "
            f"iterations {comparisons.deviation(split.between_iterations)}"
        )
        console.print(Text(f"{where}: {levels} (n = {split.between_starts.n} blocks)"))
        if (best := comparisons.iterations_said(split)) != NO_VALUE:
            console.print(Text(f"  iterations per start that use the time best: about {best}"))


def _print_remarks(analysis: Analysis, console: Console, *, show_all: bool) -> None:
    primary = comparisons.remarks(analysis, primary=True)
    others = comparisons.remarks(analysis, primary=False)
    if not (primary or others):
        return
    _heading(comparisons.CHECKS_TITLE, comparisons.CHECKS_EXPLANATION, console)
    for remark in (*primary, *(others if show_all else ())):
        summary = remark.verdict.overhead.summary
        where = f"{one_line(summary.environment)} ({arrange.place(summary.cell)}), {one_line(summary.metric)}"
        console.print(Text(f"{where}: {remark.sentence}", style="red" if remark.blocks else "yellow"))
    if others and not show_all:
        console.print(
            Text(f"{counted(len(others), 'finding')} on other metrics; --all shows them", style="dim")
        )


def _heading(title: str, explanation: str, console: Console) -> None:
    console.print(Text(f"\n{title}", style="bold"))
    console.print(Text(explanation))


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = ruled_table()
    table.add_column(titles[0], overflow="fold", width=_NAME_WIDTH)
    for title in titles[1:]:
        table.add_column(title, justify="right", no_wrap=True)
    for name, *figures in rows:
        table.add_row(Text(name), *(Text(figure) for figure in figures))
    return table
