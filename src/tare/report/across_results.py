# SPDX-License-Identifier: Apache-2.0
"""Results against each other: a line for each environment, what differs between the results, and the JSON."""

from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.table import LEAST_NAME, add_name_column, name_cell, name_width, ruled_table
from tare.drawing.words import interval_percent, point_percent
from tare.foreign import one_line
from tare.records import NATIVE, ChangeWord, FactDifference, Incomparable, ResultChange, ResultComparison
from tare.report.shape import (
    ByName,
    EstimateShape,
    JsonShape,
    MetricShape,
    Number,
    Versioned,
    in_unit,
    key,
    printed,
)
from tare.statistics.days import LEAST_DAYS

_RANK = {ChangeWord.LARGER: 0, ChangeWord.SMALLER: 0, ChangeWord.UNDECIDED: 1, ChangeWord.ALIKE: 2}
_MARK = {ChangeWord.LARGER: "red", ChangeWord.SMALLER: "green", ChangeWord.ALIKE: "green"}
_MOST_NOT_COMPARED = 10


def print_comparison(comparison: ResultComparison, console: Console, *, verbose: bool) -> None:
    """Print the sentences, what differs, and what cannot be compared; ``verbose`` adds every metric in a table."""
    for later in comparison.results[1:]:
        heading = f"{one_line(later)} against {one_line(comparison.results[0])}"
        console.print(Text(heading, style="bold"))
        own = [change for change in comparison.changes if change.later == later]
        for line, style in _lines(own):
            console.print(Text(line, style=style))
        if not own:
            console.print(Text("nothing can be compared"))
        if verbose and own:
            console.print(_table(own))
    for line in limits_said(comparison):
        console.print(Text(line))
    _print_differences(comparison, console)
    print_incomparable(comparison.incomparable, console, verbose=verbose)


def _lines(changes: list[ResultChange]) -> Iterator[tuple[str, str]]:
    """A line for each environment, and one for native: its clearest primary change, and how many more there are."""
    for environment in dict.fromkeys(change.environment for change in changes):
        own = [change for change in changes if change.environment == environment]
        asked = [change for change in own if change.primary or change.environment == NATIVE] or own
        first = min(asked, key=lambda change: (_RANK[change.word], change.p_value))
        more = f"; {len(asked) - 1} more with --verbose" if len(asked) > 1 else ""
        yield f"{one_line(first.sentence)}{more}", _MARK.get(first.word, "")


def limits_said(comparison: ResultComparison) -> Iterator[str]:
    """What the words about the changes do not cover, in sentences; none if nothing is compared."""
    for later in comparison.native_differs:
        yield (
            f"Native's own time changed in {one_line(later)}: the host differed between these two measurements, and an "
            "overhead may differ for that alone."
        )
    if comparison.changes:
        yield (
            "The intervals hold the noise within both results, not a difference between their days. To separate the "
            "two, measure both in one campaign as two environments; or ask tare history, which needs "
            f"{LEAST_DAYS} results of other days before the newest."
        )


def _table(changes: list[ResultChange]) -> Table:
    table = ruled_table()
    add_name_column(table, "environment", name_width((change.environment for change in changes), LEAST_NAME))
    table.add_column("metric", overflow="fold")
    for title in ("before", "after", "change", "word"):
        table.add_column(title, justify="right", no_wrap=True)
    several = len({change.cell for change in changes}) > 1
    for change in changes:
        place = (
            f"{change.metric} ({change.cell.workload} on {change.cell.layout})" if several else change.metric
        )
        figures = (
            _figure(change, before=True),
            _figure(change, before=False),
            interval_percent(change.change),
        )
        row = (one_line(place), *figures, str(change.word))
        table.add_row(name_cell(change.environment, LEAST_NAME), *map(Text, row))
    return table


def _figure(change: ResultChange, *, before: bool) -> str:
    estimate = change.before if before else change.after
    if change.environment == NATIVE:
        return f"{estimate.point:.4g} {one_line(change.unit)}"
    return point_percent(estimate)


def _print_differences(comparison: ResultComparison, console: Console) -> None:
    if comparison.differences:
        print_fact_differences(comparison.differences, console)
    else:
        console.print(Text("What differs: nothing that was recorded"))


def print_fact_differences(differences: Iterable[FactDifference], console: Console) -> None:
    """Print each fact that is not the same, with its values in the order of what is compared."""
    console.print(Text("What differs:"))
    for difference in differences:
        values = " | ".join(
            "not recorded" if value is None else one_line(value, 60) for value in difference.values
        )
        console.print(Text(f"- {one_line(difference.label)}: {values}"))


def print_incomparable(incomparable: tuple[Incomparable, ...], console: Console, *, verbose: bool) -> None:
    """Print what cannot be compared and why; without ``verbose`` only the first few."""
    if not incomparable:
        return
    shown = incomparable if verbose else incomparable[:_MOST_NOT_COMPARED]
    console.print(Text("Not compared:"))
    for each in shown:
        console.print(Text(f"- {one_line(each.what)}: {one_line(each.reason)}"))
    if left := len(incomparable) - len(shown):
        console.print(Text(f"- {left} more with --verbose"))


def _own_unit(change: ResultChange) -> str:
    return change.unit if change.environment == NATIVE else "1"


class ResultChangeShape(MetricShape):
    """How one environment's overhead, or native's own time, differs between two results."""

    first: str = key("the result that is the reference")
    later: str = key("the other result")
    primary: bool = key(
        "whether it is a claim on a primary metric of an environment; all others are exploratory"
    )
    before: EstimateShape = key(
        "the overhead in the first result; for `native` the value in the metric's unit",
        lambda change: in_unit(change.before, _own_unit(change)),
    )
    after: EstimateShape = key(
        "the same in the later result", lambda change: in_unit(change.after, _own_unit(change))
    )
    change: EstimateShape = key(
        "time for the same work later over before, minus 1; relative to native's time except for `native`; unpaired"
    )
    points: EstimateShape | None = key(
        "the change of the overhead as a fraction, where 0.05 is 5 points; `null` for `native`"
    )
    word: ByName[ChangeWord] = key(
        "what may be said of these two measurements, together with all claims of its family; a difference between "
        "their days is part of the change"
    )
    alone: ByName[ChangeWord] = key("what could be said if it were the only claim")
    p_value: Number = key(
        "of no difference, adjusted for the family; 1 where it is above the permitted error"
    )
    claims: int = key("number of claims in its family")
    withheld: str | None = key("why nothing is claimed although there may be an interval; `null` otherwise")
    sentence: str = key("the same in words")


class FactDifferenceShape(JsonShape):
    """A recorded fact that is not the same in all results."""

    label: str = key("what it is about")
    values: list[str | None] = key("one for each result, in their order; `null`: not recorded")


class IncomparableShape(JsonShape):
    """Something that cannot be compared."""

    first: str = key("the result that is the reference")
    later: str = key("the other result")
    what: str = key("environment, metric and cell")
    reason: str = key("why not")


class PrintedComparison(Versioned):
    """The object that `tare compare A B... --json` prints."""

    results: list[str] = key("the folders, the reference first")
    changes: list[ResultChangeShape] = key("one object for each environment, cell, metric and later result")
    native_differs: list[str] = key(
        "the later results in which native's own time is certainly another: their host differed"
    )
    differences: list[FactDifferenceShape] = key("what differs between hosts, images, versions and campaigns")
    incomparable: list[IncomparableShape] = key("what cannot be compared, and why")


def comparison_json(comparison: ResultComparison) -> dict[str, Any]:
    """Give what ``json.dumps`` takes; a missing or not finite number is ``None``, never 0."""
    return printed(PrintedComparison, comparison)
